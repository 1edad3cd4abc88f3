// Package race runs functions against each other in tests. It says how often a test
// repeats what it does at random, and how long a test waits on a busy machine.
package race

import (
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Run calls f from n goroutines that start together. It returns the error of
// each call, in the order of i, when all of them have returned.
func Run(n int, f func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			errs[i] = f(i)
		})
	}
	close(start)
	all.Wait()
	return errs
}

// Rounds returns how often a test repeats a race between two calls: the value of
// the variable LATCHKEY_RACES, or 20 if it is empty.
func Rounds(t testing.TB) int {
	t.Helper()
	text := os.Getenv("LATCHKEY_RACES")
	if text == "" {
		return 20
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("LATCHKEY_RACES is %q: want a number", text)
	}
	return n
}

// Steps returns the seed of a test that does things at random, and how many it does:
// usual, times the variable LATCHKEY_STEPS if that is set. The variable LATCHKEY_SEED
// repeats a run. Steps logs both.
func Steps(t testing.TB, usual int) (seed uint64, steps int) {
	t.Helper()
	seed, times := rand.Uint64(), uint64(1)
	for name, value := range map[string]*uint64{"LATCHKEY_SEED": &seed, "LATCHKEY_STEPS": &times} {
		if n, ok := number(t, name); ok {
			*value = n
		}
	}
	t.Logf("LATCHKEY_SEED=%d LATCHKEY_STEPS=%d repeats these choices", seed, times)
	return seed, usual * int(times)
}

// Walk returns the seed of a test that walks at random through several worlds, and the
// number of steps in each. The number is usual. With the variable LATCHKEY_WALK it is so
// large that all worlds together have at least that number. The variable LATCHKEY_SEED
// repeats a run. Walk logs what it returns.
func Walk(t testing.TB, usual, worlds int) (seed uint64, steps int) {
	t.Helper()
	seed, steps = rand.Uint64(), usual
	if n, ok := number(t, "LATCHKEY_SEED"); ok {
		seed = n
	}
	if n, ok := number(t, "LATCHKEY_WALK"); ok {
		steps = max(usual, (int(n)+worlds-1)/worlds)
	}
	t.Logf("LATCHKEY_SEED=%d LATCHKEY_WALK=%d repeats these choices: %d steps in each of %d worlds", seed, steps*worlds, steps, worlds)
	return seed, steps
}

// number returns the value of a variable; ok is false if it is empty. It ends the test
// if the value is no number.
func number(t testing.TB, name string) (n uint64, ok bool) {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q: want a number", name, text)
	}
	return n, true
}

// Patience returns how long a test waits for a server, a browser or a goroutine before
// it fails: usual, times the variable LATCHKEY_PATIENCE if that is set. It panics if
// the variable is no number.
func Patience(usual time.Duration) time.Duration {
	text := os.Getenv("LATCHKEY_PATIENCE")
	if text == "" {
		return usual
	}
	times, err := strconv.ParseFloat(text, 64)
	if err != nil || times <= 0 {
		panic("LATCHKEY_PATIENCE is " + strconv.Quote(text) + ": want a number such as 3")
	}
	return time.Duration(times * float64(usual))
}
