package guarded

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/health"
)

// TestAnswersAreHealth is R-843: a store that has no room for something has answered.
func TestAnswersAreHealth(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want health.State
	}{
		"no error":             {nil, health.Up},
		"a table that lacks":   {errors.ErrUnsupported, health.Up},
		"an outage":            {errors.New("connection refused"), health.Down},
		"a client that left":   {context.Canceled, health.Unknown},
		"a deadline is passed": {context.DeadlineExceeded, health.Down},
	} {
		b := &Bounds{Timeout: time.Minute, Health: health.NewBoard()}
		_ = Do(t.Context(), b, "GetUser", func(context.Context) error { return c.err })
		if state, _ := b.Health.Store.State(); state != c.want {
			t.Errorf("R-843 after %s the store is %v, want %v", name, state, c.want)
		}
	}
}
