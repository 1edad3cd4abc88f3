package sitetest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// propertyRun returns the random numbers of a property test, and how many of its
// usual steps it has: LATCHKEY_STEPS makes them more, LATCHKEY_SEED repeats a run.
func propertyRun(t *testing.T, steps int) (*rand.Rand, int) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if given, err := strconv.ParseUint(os.Getenv("LATCHKEY_SEED"), 10, 64); err == nil {
		seed = given
	}
	if given, err := strconv.Atoi(os.Getenv("LATCHKEY_STEPS")); err == nil {
		steps = given
	}
	t.Logf("LATCHKEY_SEED=%d LATCHKEY_STEPS=%d", seed, steps)
	return rand.New(rand.NewPCG(seed, 0)), steps
}

// oneOf returns one of the list.
func oneOf[T any](random *rand.Rand, list []T) T { return list[random.IntN(len(list))] }
