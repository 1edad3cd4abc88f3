package directory

import (
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/storage"
)

// each second factor that goes with a first proof of the address has an event.
func TestEvictedFactorsHaveEvents(t *testing.T) {
	adapter := memoryadapter.New(memoryadapter.Options{})
	ada, err := adapter.CreateUser(t.Context(), storage.User{ID: "ada", Email: "ada@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	s := storeOf(adapter)
	d := &Directory{Store: s, Now: time.Now}
	KeepChallenges(d, []string{"a secret of a test that is long enough"}, "")
	for _, id := range []string{"one", "two"} {
		if err := s.Factors().Create(t.Context(), storage.Factor{ID: id, UserID: ada.ID, Kind: storage.FactorTOTP, Created: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	evict := func() []Entry {
		q := &Outbox{Base: &event.Event{}}
		if err := (Passwords{d}).detachProofs(t.Context(), q, s, ada.ID, nil); err != nil {
			t.Fatal(err)
		}
		return q.Take()
	}
	told := evict()
	for _, e := range told {
		if e.Type != event.FactorRemoved || e.Event == nil || e.Event.UserID != ada.ID {
			t.Errorf("R-706 %+v", e)
		}
	}
	if again := evict(); len(told) != 2 || len(again) != 0 {
		t.Errorf("R-706 %d events for two factors, and %d for none", len(told), len(again))
	}
}
