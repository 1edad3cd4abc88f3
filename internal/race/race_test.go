package race_test

import (
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
)

// one variable makes walks long, and another one deadlines.
func TestLengths(t *testing.T) {
	t.Setenv("LATCHKEY_SEED", "7")
	t.Setenv("LATCHKEY_STEPS", "50")
	for _, row := range []struct {
		walk          string
		usual, worlds int
		steps         int
	}{
		{"", 150, 6, 150},
		{"100000", 150, 6, 16_667},
		{"100000", 36, 1, 100_000},
		{"10", 150, 6, 150},
	} {
		t.Setenv("LATCHKEY_WALK", row.walk)
		if seed, steps := race.Walk(t, row.usual, row.worlds); seed != 7 || steps != row.steps {
			t.Errorf("R-586: a walk of %q has %d steps from seed %d, want %d", row.walk, steps, seed, row.steps)
		}
	}
	if seed, steps := race.Steps(t, 3); seed != 7 || steps != 150 {
		t.Errorf("%d steps from seed %d", steps, seed)
	}
	for text, want := range map[string]time.Duration{"": time.Minute, "3": 3 * time.Minute, "0.5": 30 * time.Second} {
		t.Setenv("LATCHKEY_PATIENCE", text)
		if got := race.Patience(time.Minute); got != want {
			t.Errorf("R-586: LATCHKEY_PATIENCE=%s makes a minute %v, want %v", text, got, want)
		}
	}
}
