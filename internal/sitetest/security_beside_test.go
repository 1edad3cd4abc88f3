package sitetest

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/users"
)

// midway is a store in which something else happens once, right before the next session
// is stored, and misses that session. It may be inside a transaction.
type midway struct {
	*memoryadapter.Adapter
	open *memoryadapter.Adapter // the transaction that is open; nil: none
	then func()
}

func (m *midway) now() *memoryadapter.Adapter {
	if m.open != nil {
		return m.open
	}
	return m.Adapter
}

func (m *midway) happen() {
	if then := m.then; then != nil {
		m.then = nil
		then()
	}
}

func (m *midway) CreateSession(ctx context.Context, s storage.StoredSession) error {
	m.happen()
	return m.Adapter.CreateSession(ctx, s)
}

func (m *midway) Revoke(ctx context.Context, key string, at, expires time.Time) error {
	return m.now().Revoke(ctx, key, at, expires)
}

func (m *midway) RevokedAt(ctx context.Context, keys ...string) (map[string]time.Time, error) {
	return m.now().RevokedAt(ctx, keys...)
}

func (m *midway) DeleteProviderSessions(ctx context.Context, sids, subs []string, issued time.Time) ([]storage.StoredSession, error) {
	return m.now().DeleteProviderSessions(ctx, sids, subs, issued)
}

func (m *midway) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	return m.Adapter.InTx(ctx, func(a storage.Adapter) error {
		m.open = a.(*memoryadapter.Adapter)
		defer func() { m.open = nil }()
		return f(midwayTx{m.open, m})
	})
}

// midwayTx is a transaction of a midway.
type midwayTx struct {
	*memoryadapter.Adapter
	of *midway
}

func (tx midwayTx) CreateSession(ctx context.Context, s storage.StoredSession) error {
	tx.of.happen()
	return tx.Adapter.CreateSession(ctx, s)
}

// a logout at the provider ends a session that an app opens at the same moment.
func TestBearerSessionDuringBackChannelLogout(t *testing.T) {
	for name, claims := range map[string]map[string]any{"sid": {"sid": "a1"}, "sub": {"sub": "ada"}} {
		for kind, wrap := range map[string]func(*midway) storage.Adapter{
			"in a transaction": func(m *midway) storage.Adapter { return m },
			"without transactions": func(m *midway) storage.Adapter {
				return struct {
					noTx
					storage.SessionListAdapter
					storage.ProviderLogoutAdapter
					storage.RevocationStore
				}{noTx{m, m, m, m, m}, m, m, m}
			},
		} {
			t.Run("R-651 "+name+", "+kind, func(t *testing.T) {
				m := &midway{Adapter: memoryadapter.New(memoryadapter.Options{})}
				s := newLogoutSite(t, latchkey.DatabaseSessions, everyWay, takesBearer, func(c *latchkey.Config) { c.Adapter = wrap(m) })
				s.store = m.Adapter
				b := s.enter("ada", "a1")
				code, called := bearerCode(t, b, appVerifier), false
				m.then = func() {
					called = true
					said(t, s.tell(claims), http.StatusOK)
				}
				token, _, err := b.change(code, appVerifier)
				dead(t, b)
				if rows := m.Contents().Sessions; !called || token != "" || len(rows) != 0 {
					t.Errorf("R-651 called %t; the app has the token %q, %v; %d rows", called, token, err, len(rows))
				}
			})
		}
	}
}

// lockedUsers is a store whose transactions lock users. What they revoke is seen after
// their end.
type lockedUsers struct {
	*memoryadapter.Adapter
	user  sync.Mutex
	waits chan struct{} // gets a value when a transaction waits for a user
}

func (l *lockedUsers) InTx(_ context.Context, f func(storage.Adapter) error) error {
	tx := &lockedTx{Adapter: l.Adapter, of: l}
	err := f(tx)
	for _, commit := range tx.late {
		commit()
	}
	if tx.locked {
		l.user.Unlock()
	}
	return err
}

type lockedTx struct {
	*memoryadapter.Adapter
	of     *lockedUsers
	locked bool
	late   []func()
}

func (tx *lockedTx) UpdateUser(ctx context.Context, id string, c storage.UserChange) (storage.User, error) {
	if !tx.locked && !tx.of.user.TryLock() {
		tx.of.waits <- struct{}{}
		tx.of.user.Lock()
	}
	tx.locked = true
	return tx.Adapter.UpdateUser(ctx, id, c)
}

func (tx *lockedTx) Revoke(ctx context.Context, key string, at, expires time.Time) error {
	tx.late = append(tx.late, func() { _ = tx.Adapter.Revoke(ctx, key, at, expires) })
	return nil
}

// slowRows are sessions apart, of which a call that ends all deletes what it has listed
// before.
type slowRows struct {
	apartStore
	create func()
	listed func()
}

func (s *slowRows) CreateSession(ctx context.Context, row storage.StoredSession) error {
	if f := s.create; f != nil {
		s.create = nil
		f()
	}
	return s.apartStore.CreateSession(ctx, row)
}

func (s *slowRows) DeleteSessions(ctx context.Context, userID, keep string) (n int, err error) {
	rows, err := s.ListSessions(ctx, userID)
	if err != nil {
		return 0, err
	}
	if s.listed != nil {
		s.listed()
	}
	for _, row := range rows {
		if row.ID != keep && s.DeleteSessionByID(ctx, userID, row.ID) == nil {
			n++
		}
	}
	return n, nil
}

// what ends all sessions of a user ends one that an app opens at the same moment,
// where sessions are apart and the users have transactions.
func TestBearerSessionApartDuringAnEnd(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *latchkey.Auth, string) error{
		"EndSessions": func(t *testing.T, a *latchkey.Auth, id string) error { return a.Users().EndSessions(t.Context(), id) },
		"Suspend": func(t *testing.T, a *latchkey.Auth, id string) error {
			return a.Users().Suspend(t.Context(), id, users.SuspendOptions{})
		},
	} {
		t.Run("R-652 "+name, func(t *testing.T) {
			store := &lockedUsers{Adapter: memoryadapter.New(memoryadapter.Options{}), waits: make(chan struct{}, 1)}
			rows := &slowRows{apartStore: newApartStore()}
			s, ada := newBearerSite(t, stored, func(c *latchkey.Config) { c.Adapter, c.Session.Store = store, rows })
			s.store = store.Adapter
			id := onlyUser(t, s)
			s.clock.Advance(time.Minute)
			listed, opened, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
			rows.listed = func() {
				close(listed)
				select { // the app is done, or it waits for this transaction
				case <-opened:
				case <-store.waits:
				}
			}
			code := bearerCode(t, ada, appVerifier)
			rows.create = func() {
				go func() { ended <- end(t, s.auth, id) }()
				<-listed
			}
			token, _, err := ada.change(code, appVerifier)
			close(opened)
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if n := rows.count(); n != 0 || token != "" {
				t.Errorf("R-652 %d sessions live; the app has the token %q, %v", n, token, err)
			}
		})
	}
}
