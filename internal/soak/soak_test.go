//go:build linux

package soak

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// length returns how long the run takes.
func length(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("LATCHKEY_SOAK")
	if text == "" {
		return 4 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		t.Fatalf("LATCHKEY_SOAK is %q, want a duration such as 10m", text)
	}
	return d
}

// TestSoak: O-085. Visitors come and go while the store, the provider and the instances
// fail by a schedule. Each visitor finds what its ledger says: nobody is signed out who
// should not be, nobody is signed in as another, and no session that ended is alive.
// Errors come only with a fault and five seconds after; what the run took is given back.
func TestSoak(t *testing.T) {
	seed, _ := race.Steps(t, 1)
	w := newWorld(t)
	end := time.Now().Add(length(t))
	goroutines := runtime.NumGoroutine()
	visitors := make([]*visitor, people/2)
	var wg sync.WaitGroup
	for i := range visitors {
		visitors[i] = newVisitor(w, i, seed)
		wg.Go(func() {
			for time.Now().Before(end) {
				visitors[i].step()
				time.Sleep(time.Duration(visitors[i].rand.IntN(40)) * time.Millisecond) // a person reads
			}
		})
	}
	heap := w.chaos(t, rand.New(rand.NewPCG(seed, 0)), end)
	wg.Wait()
	done := map[string]int{}
	for _, v := range visitors {
		for _, text := range v.errs {
			t.Error(text)
		}
		for what, n := range v.done {
			done[what] += n
		}
	}
	t.Logf("done: %v", done)
	w.leaks(t, goroutines, heap)
}

// chaos breaks and mends things until the end, and returns the size of the heap over time.
func (w *world) chaos(t *testing.T, r *rand.Rand, end time.Time) (heap []uint64) {
	t.Helper()
	pause := min(time.Until(end)/8, 10*time.Second)
	faults := map[string]int{}
	for {
		wait := time.Until(end)
		time.Sleep(min(pause, max(wait, 0)))
		if time.Until(end) < pause {
			t.Logf("faults: %v", faults)
			return heap
		}
		name := w.fault(t, r, pause/4)
		faults[name]++
		w.issuer.EndGrants() // it remembers them all, and the site does not use them
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		heap = append(heap, m.HeapAlloc)
	}
}

// fault breaks one thing for a while.
func (w *world) fault(t *testing.T, r *rand.Rand, while time.Duration) string {
	t.Helper()
	switch r.IntN(6) {
	case 0:
		w.excuse(func() {
			w.issuer.Misbehave(latchkeytest.Misbehaviour{Answers: map[string]latchkeytest.Answer{"/token": {Status: 503}, "/jwks": {Status: 503}}})
			time.Sleep(while)
			w.issuer.Misbehave(latchkeytest.Misbehaviour{})
		})
		return "provider away"
	case 1:
		w.excuse(func() { must(t, w.issuer.RotateKeys()) })
		return "keys rotated"
	case 2:
		w.excuse(func() {
			w.server.Crash()
			time.Sleep(while)
			w.server.Restart(t)
			w.pool.Reset()
		})
		return "store crashed"
	case 3:
		w.excuse(func() { w.start(t, r.IntN(2)) })
		return "instance killed"
	case 4: // what is sealed under the former secret opens at both, always
		w.excuse(func() {
			w.lock.Lock()
			w.secrets = append([]string{fmt.Sprintf("secret number %d of a site that runs for long", r.Uint64())}, w.secrets...)
			w.secrets = w.secrets[:min(len(w.secrets), 3)]
			w.lock.Unlock()
			w.start(t, 0)
			w.start(t, 1)
		})
		return "secret rotated"
	default:
		if _, err := w.backends[0].auth.Sweep(t.Context()); err != nil {
			t.Errorf("Sweep: %v", err)
		}
		return "swept"
	}
}

// leaks compares goroutines, heap and tables with what they should be.
func (w *world) leaks(t *testing.T, goroutines int, heap []uint64) {
	t.Helper()
	w.pool.Reset()
	w.network.CloseIdleConnections()
	for i := range w.backends {
		w.start(t, i) // closes connections of the run
	}
	deadline := time.Now().Add(race.Patience(20 * time.Second))
	for runtime.NumGoroutine() > goroutines+12 && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > goroutines+12 {
		var stacks strings.Builder
		_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
		t.Errorf("O-085 %d goroutines, %d at the start:\n%s", n, goroutines, stacks.String())
	}
	if third := len(heap) / 3; third >= 3 {
		if before, after := mean(heap[third:2*third]), mean(heap[2*third:]); after > before*11/10+4<<20 {
			t.Errorf("O-085 the heap grew from %d to %d bytes", before, after)
		}
	}
	var sessions, users int
	must(t, w.pool.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM sessions WHERE expires > $1), (SELECT count(*) FROM users)", w.now()).Scan(&sessions, &users))
	if users > people || sessions > people*10 {
		t.Errorf("O-085 %d users and %d live sessions of %d people", users, sessions, people)
	}
}

func mean(list []uint64) (sum uint64) {
	for _, n := range list {
		sum += n
	}
	return sum / uint64(len(list))
}
