package limit

import (
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/storage"
)

// codes returns how many of so many codes are compared.
func codes(t *testing.T, l *Limits, c Code, most int) (compared int) {
	t.Helper()
	for range most {
		tries, wait, err := l.TakeCode(t.Context(), c)
		if err != nil || (wait > 0) != (len(tries) == 0) {
			t.Fatal(tries, wait, err)
		}
		if wait == 0 {
			compared++
		}
	}
	return compared
}

func TestBudgetsOfCodes(t *testing.T) {
	clock := newFakeClock()
	newOne := func() *Limits {
		return New(Rates{}, false, keys.New([]string{"secret"}, "", ""), NewMemory(clock.Now), nil)
	}
	t.Run("F-072 a day has three hourly budgets in unknown browsers", func(t *testing.T) {
		l, compared := newOne(), 0
		for range 24 {
			compared += codes(t, l, Code{UserID: "ada"}, 11)
			clock.Advance(time.Hour)
		}
		if compared < 30 || compared > 60 { // 30 at once, and as many while these are forgotten
			t.Errorf("%d codes in a day", compared)
		}
	})
	t.Run("F-072 F-073 strangers do not use up what the owner has", func(t *testing.T) {
		l := newOne()
		if n := codes(t, l, Code{UserID: "ada"}, 20); n != 10 {
			t.Errorf("strangers: %d codes", n)
		}
		for name, c := range map[string]Code{
			"a known browser": {UserID: "ada", Browser: "b"}, "a recovery code": {UserID: "ada", IsRecovery: true},
			"another user": {UserID: "bob"}, "another user of the browser": {UserID: "bob", Browser: "b"},
		} {
			if n := codes(t, l, c, 20); n != 10 {
				t.Errorf("%s: %d codes, want 10", name, n)
			}
		}
	})
	t.Run("F-073 a known browser's recovery codes are counted with all others", func(t *testing.T) {
		l := newOne()
		if n := codes(t, l, Code{UserID: "ada", IsRecovery: true}, 10) + codes(t, l, Code{UserID: "ada", Browser: "b", IsRecovery: true}, 10); n != 10 {
			t.Errorf("%d codes, want 10", n)
		}
	})
}

func TestBudgetsOfPasswords(t *testing.T) {
	three := storage.Rate{Events: 3, Per: time.Hour}
	newOne := func() *Limits {
		return New(Rates{AttemptsPerAccount: three}, false, keys.New([]string{"secret"}, "", ""), NewMemory(newFakeClock().Now), nil)
	}
	t.Run("F-203 R-684 mailboxes of no user have a budget each", func(t *testing.T) {
		l := newOne()
		for _, mailbox := range []string{"ada@example.com", "bob@example.com"} {
			if n := passes(t, l, l.UserAttempt("", mailbox, Requester{}), 5); n != 3 {
				t.Errorf("%s: %d tries, want 3", mailbox, n)
			}
		}
	})
	t.Run("F-203 a user has one budget, however the mailbox is spelled", func(t *testing.T) {
		l := newOne()
		if n := passes(t, l, l.UserAttempt("1", "ada@example.com", Requester{}), 2) + passes(t, l, l.UserAttempt("1", "ADA@example.com", Requester{}), 2); n != 3 {
			t.Errorf("%d tries, want 3", n)
		}
	})
	t.Run("F-075 a known browser is judged alone", func(t *testing.T) {
		l := newOne()
		passes(t, l, l.UserAttempt("1", "ada@example.com", Requester{}), 5)
		if n := passes(t, l, l.UserAttempt("1", "ada@example.com", Requester{Browser: "b"}), 20); n != 10 {
			t.Errorf("%d tries in the known browser, want 10", n)
		}
	})
}
