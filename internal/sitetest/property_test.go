package sitetest

import (
	"math/rand/v2"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/race"
)

// propertyRun returns the random numbers of a property test, and how many steps it
// takes.
func propertyRun(t *testing.T, usual int) (*rand.Rand, int) {
	t.Helper()
	seed, steps := race.Steps(t, usual)
	return rand.New(rand.NewPCG(seed, 0)), steps
}

// oneOf returns one of the list.
func oneOf[T any](random *rand.Rand, list []T) T { return list[random.IntN(len(list))] }
