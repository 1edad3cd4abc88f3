package limit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/storage"
)

func newLimits(clock func() time.Time, shared storage.Limiter) *Limits {
	here := NewMemory(clock)
	rate := storage.Rate{Events: 3, Per: time.Hour}
	rates := Rates{AttemptsPerAccount: rate, AttemptsPerClient: storage.Rate{Events: 5, Per: time.Hour}, LinkAttempts: rate, MailsPerRecipient: rate}
	k := keys.New([]string{"secret"}, "", "")
	if shared == nil {
		return New(rates, false, k, here, nil)
	}
	return New(rates, false, k, here, NewShared(shared, here, quietBounds(clock, time.Second), clock))
}

// quietBounds returns bounds that log nothing.
func quietBounds(clock func() time.Time, timeout time.Duration) *guarded.Bounds {
	log := journal.New(slog.New(slog.DiscardHandler), clock, journal.Rules{
		Level:   func(error) slog.Level { return slog.LevelError },
		Outcome: func(error) string { return "" },
		Details: func(error) []journal.Detail { return nil },
	})
	return &guarded.Bounds{Timeout: timeout, Log: log}
}

// passes returns how many of so many events get through.
func passes(t *testing.T, l *Limits, e Event, most int) (passed int) {
	t.Helper()
	for range most {
		try, err := l.Take(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		if try.Wait == 0 {
			passed++
		}
	}
	return passed
}

func TestClientsAreNetworks(t *testing.T) {
	for rule, c := range map[string]struct {
		one, other string
		same       bool // they share their tries
		near       bool // they share their part of the memory
	}{
		"one IPv4 address":                     {"192.0.2.1", "192.0.2.1", true, true},
		"two IPv4 addresses":                   {"192.0.2.1", "192.0.2.2", false, false},
		"one IPv6 subscriber":                  {"2001:db8:1:2::3", "2001:db8:1:2:4::5", true, true},
		"two IPv6 subscribers of one network":  {"2001:db8:1:2::3", "2001:db8:1:3::3", false, true},
		"two IPv6 networks":                    {"2001:db8:1:2::3", "2001:db8:2:2::3", false, false},
		"IPv4 in IPv6":                         {"::ffff:192.0.2.1", "192.0.2.1", true, true},
		"two IPv4 addresses behind NAT64":      {"64:ff9b::192.0.2.1", "64:ff9b::192.0.2.2", false, false},
		"behind NAT64 and without":             {"64:ff9b::192.0.2.1", "192.0.2.1", true, true},
		"two behind a network's own NAT64":     {"64:ff9b:1:fffe::192.0.2.1", "64:ff9b:1:fffe::192.0.2.2", false, false},
		"two spellings of one IPv6 address":    {"2001:db8::1", "2001:0db8:0:0::1", true, true},
		"names of the application's own":       {"device 1", "device 2", false, false},
		"one name of the application's own":    {"device 1", "device 1", true, true},
		"what looks like NAT64 and is a /64":   {"64:ff9b:2::1", "64:ff9b:2::2", true, true},
		"a zone is no part of a client's name": {"fe80::1%eth0", "fe80::1%eth1", true, true},
	} {
		t.Run("R-516 R-395 "+rule, func(t *testing.T) {
			if same := narrowly(c.one) == narrowly(c.other); same != c.same {
				t.Errorf("tries: %q and %q", narrowly(c.one), narrowly(c.other))
			}
			if near := widely(c.one) == widely(c.other); near != c.near {
				t.Errorf("memory: %q and %q", widely(c.one), widely(c.other))
			}
		})
	}
	t.Run("R-507 subscribers of one network share its part of the memory", func(t *testing.T) {
		clock := newFakeClock()
		used := NewUsedValues(clock.Now)
		once := NewOnce(used, nil, keys.New([]string{"secret"}, "", ""))
		until := clock.Now().Add(time.Hour)
		for i := range mostKeys {
			_, _ = once.Use(t.Context(), fmt.Sprintf("2001:db8:1:%x::1", i%5000), "flood", fmt.Sprint(i), until)
		}
		if n := used.used.Len(); n > mostKeys/2 {
			t.Errorf("one network fills %d of %d", n, mostKeys)
		}
	})
}

func TestShownValues(t *testing.T) {
	clock := newFakeClock()
	recent := NewRecent(clock.Now)
	once := NewOnce(NewUsedValues(clock.Now), recent, keys.New([]string{"secret"}, "", ""))
	until := clock.Now().Add(time.Hour)
	t.Run("R-507 R-394 a value is shown first once", func(t *testing.T) {
		if !once.MarkSeen(t.Context(), "", "p", "v", until) || once.MarkSeen(t.Context(), "", "p", "v", until) {
			t.Error("not once")
		}
	})
	t.Run("R-507 whatever is shown, there is room for what is used", func(t *testing.T) {
		for i := range 2 * mostRecent {
			once.MarkSeen(t.Context(), fmt.Sprintf("2001:db8:%x::1", i%50000), "p", fmt.Sprint(i), until)
		}
		if n := recent.shown.Len(); n > mostRecent {
			t.Errorf("%d values, want %d at most", n, mostRecent)
		}
		if first, err := once.Use(t.Context(), "192.0.2.1", "p", "new", until); !first || err != nil {
			t.Errorf("%t, %v", first, err)
		}
	})
}

func TestFullMemoryWillPass(t *testing.T) {
	clock := newFakeClock()
	used := NewUsedValues(clock.Now)
	until := clock.Now().Add(time.Minute)
	for i := range mostKeys {
		if _, err := used.Use(t.Context(), fmt.Sprint(i), until); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("R-507 R-465 it is an outage, and no fault of the configuration", func(t *testing.T) {
		if _, err := used.Use(t.Context(), "one more", until); !errors.Is(err, ErrNoRoom) || !errors.Is(err, storage.ErrUnavailable) || !errors.Is(err, fault.ErrAdapter) {
			t.Errorf("%v", err)
		}
	})
}

func TestOnceWhileSecretsRotate(t *testing.T) {
	use := func(t *testing.T, store *UsedValues, secrets ...string) bool {
		t.Helper()
		first, err := NewOnce(store, nil, keys.New(secrets, "t", "s")).Use(t.Context(), "", "p", "v", time.Unix(1_800_000_600, 0))
		if err != nil {
			t.Fatal(err)
		}
		return first
	}
	for name, instances := range map[string][2][]string{
		"old, then both": {{"old"}, {"new", "old"}},
		"both, then old": {{"new", "old"}, {"old"}},
		"both, then new": {{"new", "old"}, {"new"}},
		"new, then both": {{"new"}, {"new", "old"}},
	} {
		t.Run("R-509 R-006 "+name, func(t *testing.T) {
			store := NewUsedValues(newFakeClock().Now)
			if !use(t, store, instances[0]...) || use(t, store, instances[1]...) {
				t.Error("not once")
			}
		})
	}
}

// moody is a shared limiter that fails when it is told to.
type moody struct {
	*Memory
	fails bool
}

func (m *moody) Take(ctx context.Context, key string, r storage.Rate) (time.Duration, error) {
	if m.fails {
		return 0, errors.New("down")
	}
	return m.Memory.Take(ctx, key, r)
}

func (m *moody) Return(ctx context.Context, key string, r storage.Rate) error {
	if m.fails {
		return errors.New("down")
	}
	return m.Memory.Return(ctx, key, r)
}

func TestTriesAreGivenBackWhereTheyWereCounted(t *testing.T) {
	for name, failsFirst := range map[string]bool{"it failed for the try, and answers now": true, "it answered the try, and fails now": false} {
		t.Run("R-516 "+name, func(t *testing.T) {
			clock := newFakeClock()
			shared := &moody{Memory: NewMemory(clock.Now)}
			l := newLimits(clock.Now, shared)
			e := l.Attempt("crew", "alice", Requester{})
			if n := passes(t, l, e, 2); n != 2 {
				t.Fatal(n)
			}
			for range 5 {
				shared.fails = failsFirst
				try, err := l.Take(t.Context(), e)
				if err != nil {
					t.Fatal(err)
				}
				if shared.fails = !failsFirst; try.Wait == 0 {
					if err := l.Return(t.Context(), try); err != nil {
						t.Fatal(err)
					}
				}
			}
			shared.fails = false
			if n := passes(t, l, e, 5); n > 1 {
				t.Errorf("%d more tries, want one at most", n)
			}
		})
	}
	t.Run("R-516 a mail that this process counted is given back here", func(t *testing.T) {
		clock := newFakeClock()
		shared := &moody{Memory: NewMemory(clock.Now)}
		l := newLimits(clock.Now, shared)
		e := l.Mail("a@example.com", Requester{})
		passes(t, l, e, 3)
		shared.fails = true
		passes(t, l, e, 1)
		shared.fails = false
		if err := l.ReturnMail(t.Context(), "a@example.com"); err != nil {
			t.Fatal(err)
		}
		if n := passes(t, l, e, 3); n != 0 {
			t.Errorf("%d more mails", n)
		}
	})
}

func TestBudgets(t *testing.T) {
	l := func(t *testing.T) *Limits { t.Helper(); return newLimits(newFakeClock().Now, nil) }
	t.Run("R-501 a success gives back its own try alone", func(t *testing.T) {
		l := l(t)
		e := l.Attempt("crew", "alice", Requester{Client: "192.0.2.1"})
		passes(t, l, e, 2)
		for range 10 {
			try, err := l.Take(t.Context(), l.Attempt("crew", "ALICE", Requester{Client: "192.0.2.1"}))
			if err != nil || try.Wait > 0 {
				t.Fatal(try, err)
			}
			if err := l.Return(t.Context(), try); err != nil {
				t.Fatal(err)
			}
		}
		if n := passes(t, l, e, 5); n != 1 {
			t.Errorf("%d guesses are left, want 1", n)
		}
	})
	t.Run("R-501 a known browser's own counts when the account's is used up", func(t *testing.T) {
		l := l(t)
		passes(t, l, l.Attempt("crew", "alice", Requester{}), 3)
		e := l.Attempt("crew", "alice", Requester{Browser: "b"})
		try, err := l.Take(t.Context(), e)
		if err != nil || !try.IsOwn() || try.Until == 0 {
			t.Fatalf("%+v, %v", try, err)
		}
		if n := passes(t, l, e, 5); n != 2 {
			t.Errorf("%d more, want 2", n)
		}
	})
	t.Run("R-501 and never the client's", func(t *testing.T) {
		l := l(t)
		passes(t, l, l.Attempt("crew", "other", Requester{Client: "192.0.2.1"}), 3)
		passes(t, l, l.Attempt("crew", "more", Requester{Client: "192.0.2.1"}), 2)
		if n := passes(t, l, l.Attempt("crew", "alice", Requester{Client: "192.0.2.1", Browser: "b"}), 1); n != 0 {
			t.Error("a known browser passes the limit of its client")
		}
	})
	t.Run("R-509 one provider's names are not another's", func(t *testing.T) {
		l := l(t)
		passes(t, l, l.Attempt("crew", "alice", Requester{}), 3)
		if n := passes(t, l, l.Attempt("staff", "alice", Requester{}), 5); n != 3 {
			t.Errorf("%d, want 3", n)
		}
	})
	t.Run("R-508 accents are no other mailbox to guess at", func(t *testing.T) {
		l := l(t)
		passes(t, l, l.Redemption("zoe@example.com", Requester{}), 3)
		if n := passes(t, l, l.Redemption("ZOË@example.com", Requester{}), 5); n != 0 {
			t.Errorf("%d, want none", n)
		}
	})
}

// slowLimiter answers only when the context of a call ends.
type slowLimiter struct {
	storage.Limiter
	asked int
}

func (l *slowLimiter) Take(ctx context.Context, _ string, _ storage.Rate) (time.Duration, error) {
	l.asked++
	<-ctx.Done()
	return 0, ctx.Err()
}

// TestDeadlineOfACaller: R-757. A caller whose own deadline ends does not keep others from
// the shared limiter; a limiter that does not answer in time does.
func TestDeadlineOfACaller(t *testing.T) {
	for name, c := range map[string]struct {
		caller, timeout time.Duration
		asked           int
	}{
		"the caller's deadline":   {time.Millisecond, time.Minute, 2},
		"the limiter's own delay": {time.Minute, time.Millisecond, 1},
	} {
		t.Run(name, func(t *testing.T) {
			clock, slow := newFakeClock(), &slowLimiter{}
			l := NewShared(slow, NewMemory(clock.Now), quietBounds(clock.Now, c.timeout), clock.Now)
			for range 2 {
				ctx, cancel := context.WithTimeout(t.Context(), c.caller)
				_, _, _ = l.take(ctx, "k", storage.Rate{Events: 9, Per: time.Minute})
				cancel()
			}
			if slow.asked != c.asked {
				t.Errorf("the limiter was asked %d times, want %d", slow.asked, c.asked)
			}
		})
	}
}
