// Package race runs functions against each other in tests.
package race

import (
	"os"
	"strconv"
	"sync"
	"testing"
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
