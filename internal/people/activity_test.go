package people

import (
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/words"
)

func TestEveryActivityHasWords(t *testing.T) {
	for _, kind := range append(kept, event.UserUpdated) {
		key := "activity." + strings.ReplaceAll(string(kind), "_", ".")
		for _, tag := range words.Tags() {
			if words.Text(tag, key) == "" {
				t.Errorf("%s: there is no text %s", tag, key)
			}
		}
	}
}
