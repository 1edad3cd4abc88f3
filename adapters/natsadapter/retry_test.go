package natsadapter

import (
	"context"
	"errors"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/latchkeyhq/latchkey/internal/realservers"
)

// The end of the tries names why nobody answered, if anybody said so.
func TestUnansweredCallsNameTheCause(t *testing.T) {
	for name, c := range map[string]struct {
		tries []error
		cause error
	}{
		"nobody is there":           {[]error{nats.ErrNoResponders}, nats.ErrNoResponders},
		"and silence at the end":    {[]error{nats.ErrNoResponders, context.DeadlineExceeded}, nats.ErrNoResponders},
		"no leader after nobody":    {[]error{nats.ErrNoResponders, jetstream.ErrNoStreamResponse}, jetstream.ErrNoStreamResponse},
		"nothing but silence":       {[]error{context.DeadlineExceeded}, context.Canceled},
		"what the client says then": {[]error{nats.ErrTimeout}, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n := 0
			err := failure(retry(ctx, func(context.Context) error {
				n = min(n+1, len(c.tries))
				if n == len(c.tries) {
					cancel()
				}
				return c.tries[n-1]
			}))
			if !errors.Is(err, context.Canceled) || !errors.Is(err, c.cause) {
				t.Errorf("got %v, want the end of the context and %v", err, c.cause)
			}
		})
	}
}

// A server without JetStream is told at once, and by name.
func TestServerWithoutJetStream(t *testing.T) {
	nc, err := nats.Connect(realservers.NewNATS(t, "--jetstream=false").URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	_, warned := Warnings(t.Context(), js, "latchkey", Options{})
	for what, err := range map[string]error{
		"Migrate": Migrate(t.Context(), js, "latchkey", Options{}), "Check": Check(t.Context(), js, "latchkey", Options{}), "Warnings": warned,
	} {
		if !errors.Is(err, ErrNoJetStream) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
