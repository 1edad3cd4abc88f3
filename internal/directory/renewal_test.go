package directory

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// plainSessions keeps sessions and cannot renew them. Its ids are unique if it is
// told so.
type plainSessions struct {
	storage.SessionStore
	unique   bool
	stuck    bool // deletes nothing
	mu       sync.Mutex
	sessions map[string]storage.StoredSession
}

func (p *plainSessions) CreateSession(_ context.Context, s storage.StoredSession) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.ID = cmp.Or(s.ID, rand.Text())
	for _, other := range p.sessions {
		if other.Token == s.Token || p.unique && other.ID == s.ID {
			return storage.ErrConflict
		}
	}
	p.sessions[s.Token] = s
	return nil
}

func (p *plainSessions) GetSession(_ context.Context, token string) (storage.StoredSession, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s, known := p.sessions[token]; known {
		return s, nil
	}
	return storage.StoredSession{}, storage.ErrNotFound
}

func (p *plainSessions) DeleteSession(_ context.Context, token string) (storage.StoredSession, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, known := p.sessions[token]
	if !known {
		return storage.StoredSession{}, storage.ErrNotFound
	}
	if p.stuck && token == "old" {
		return storage.StoredSession{}, errors.New("stuck")
	}
	delete(p.sessions, token)
	return s, nil
}

// plainAdapter hides that the adapter in memory can renew sessions.
type plainAdapter struct {
	storage.Adapter
	storage.SessionAdapter
}

func renewalStores(t *testing.T) map[string]*Store {
	memory := func() (storage.User, *memoryadapter.Adapter) {
		a := memoryadapter.New(memoryadapter.Options{})
		u, err := a.CreateUser(t.Context(), storage.User{ID: "u"})
		if err != nil {
			t.Fatal(err)
		}
		return u, a
	}
	apart := func(p *plainSessions) *Store {
		_, a := memory()
		p.sessions = map[string]storage.StoredSession{}
		s := storeOf(a)
		s.Apart = &SessionsApart{Store: p}
		return s
	}
	_, able := memory()
	_, hidden := memory()
	_, apartAble := memory()
	inMemory := storeOf(apartAble)
	inMemory.Apart = &SessionsApart{Store: apartAble}
	return map[string]*Store{
		"the adapter renews":                  storeOf(able),
		"the adapter cannot":                  storeOf(plainAdapter{hidden, hidden}),
		"a store apart renews":                inMemory,
		"a store apart cannot":                apart(&plainSessions{}),
		"a store apart cannot, ids are taken": apart(&plainSessions{unique: true}),
	}
}

func TestRenewSession(t *testing.T) {
	at := time.Now().Truncate(time.Millisecond).UTC()
	row := storage.StoredSession{ID: "s", Token: "old", UserID: "u", Expires: at.Add(time.Hour), Created: at.Add(-time.Hour), UserAgent: "agent"}
	next := storage.StoredSession{Token: "new", Expires: at.Add(2 * time.Hour), Proved: at, AMR: []string{"pwd", "otp"}, ACR: "aal2"}
	for name, s := range renewalStores(t) {
		t.Run(name, func(t *testing.T) {
			if err := s.RenewSession(t.Context(), "old", next); !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("a session that is gone: %v", err)
			}
			if err := s.CreateSession(t.Context(), row); err != nil {
				t.Fatal(err)
			}
			if err := s.RenewSession(t.Context(), "old", next); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Session(t.Context(), "old"); !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("the old token still names a session: %v", err)
			}
			found, err := s.Session(t.Context(), "new")
			got := found.Row
			if err != nil || !got.Created.Equal(row.Created) || got.UserAgent != row.UserAgent || got.UserID != row.UserID {
				t.Errorf("the session became another one: %v", err)
			}
			if !got.Expires.Equal(next.Expires) || !got.Proved.Equal(next.Proved) || !slices.Equal(got.AMR, next.AMR) || got.ACR != next.ACR {
				t.Error("the session does not say what was proven")
			}
			if taken := name == "a store apart cannot, ids are taken"; (got.ID != row.ID) != taken {
				t.Errorf("the id became %q", got.ID)
			}
		})
	}
}

func TestRenewSessionOnce(t *testing.T) {
	for name, s := range renewalStores(t) {
		t.Run(name, func(t *testing.T) {
			if err := s.CreateSession(t.Context(), storage.StoredSession{Token: "old", UserID: "u", Expires: time.Now().Add(time.Hour)}); err != nil {
				t.Fatal(err)
			}
			var wins atomic.Int32
			var all sync.WaitGroup
			for i := range 20 {
				all.Go(func() {
					token := "new" + string(rune('a'+i))
					err := s.RenewSession(t.Context(), "old", storage.StoredSession{Token: token, Expires: time.Now().Add(time.Hour)})
					_, found := s.Session(t.Context(), token)
					if (err == nil) != (found == nil) {
						t.Errorf("renewal %v, session %v", err, found)
					}
					if err == nil {
						wins.Add(1)
					}
				})
			}
			all.Wait()
			if wins.Load() != 1 {
				t.Errorf("%d renewals of one session", wins.Load())
			}
		})
	}
}

// TestRenewSessionUndone: an old session that cannot be ended is not joined by a new
// one.
func TestRenewSessionUndone(t *testing.T) {
	p := &plainSessions{stuck: true, sessions: map[string]storage.StoredSession{}}
	s := storeOf(without{})
	s.Apart = &SessionsApart{Store: p}
	if err := s.CreateSession(t.Context(), storage.StoredSession{Token: "old", UserID: "u", Expires: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if err := s.RenewSession(t.Context(), "old", storage.StoredSession{Token: "new", Expires: time.Now().Add(time.Hour)}); err == nil {
		t.Error("the old session lives, and nothing said so")
	}
	if _, left := p.sessions["new"]; left {
		t.Error("the new session lives beside the old one")
	}
}
