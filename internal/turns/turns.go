// Package turns compares two ways to do the same in one benchmark.
package turns

import (
	"slices"
	"testing"
	"time"
)

// Compare runs ours and bare in turns, so that both see the same machine, with the
// number of the turn. Each is the first every other time: the second finds in caches
// what both look for. It reports the medians of both, ns-ours and ns-bare, and their
// quotient, ratio. An error ends the benchmark.
func Compare(b *testing.B, ours, bare func(turn int) error) {
	b.Helper()
	both := [2]func(int) error{ours, bare}
	var took [2][]time.Duration
	for turn := 0; b.Loop(); turn++ {
		for n := range both {
			i := (turn + n) % 2
			began := time.Now()
			err := both[i](turn)
			took[i] = append(took[i], time.Since(began))
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	var median [2]float64
	for i, all := range took {
		slices.Sort(all)
		median[i] = float64(all[len(all)/2])
	}
	b.ReportMetric(median[0], "ns-ours")
	b.ReportMetric(median[1], "ns-bare")
	b.ReportMetric(median[0]/median[1], "ratio")
}
