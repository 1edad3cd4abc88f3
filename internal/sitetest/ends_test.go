package sitetest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestEndIsFinal makes random ends of sessions meet random reads, sign-ins that
// are under way, copied cookies, caches, sweeps, processes with clocks that differ
// within the tolerance, and lifetimes that change. Five minutes after its end a
// session is dead in every process and by every copy of its token, at any later
// time.
//
// It has found that a password which was checked before the end opened a session
// after it, with tokens and with rows; that a copy of a token of Auth.js outlived
// its sign-out for as long as its own exp; and that a flow which a process with
// another clock began looked newer than the end.
//
// In each world 150 things happen, and by night 10^5 in all.
func TestEndIsFinal(t *testing.T) {
	worlds := map[string]endsKind{
		"tokens":                          {strategy: latchkey.JWTSessions},
		"tokens, no transactions":         {strategy: latchkey.JWTSessions, loose: true},
		"rows":                            {strategy: latchkey.DatabaseSessions},
		"rows, no transactions":           {strategy: latchkey.DatabaseSessions, loose: true},
		"rows in a store of their own":    {strategy: latchkey.DatabaseSessions, apart: true},
		"rows apart, and no transactions": {strategy: latchkey.DatabaseSessions, loose: true, apart: true},
	}
	seed, usual := race.Walk(t, 150, len(worlds))
	steps := uint64(usual)
	for name, kind := range worlds {
		t.Run("R-502 R-503 R-512 "+name, func(t *testing.T) {
			for at := uint64(0); at < steps; at += 300 {
				w := newEndsWorld(t, seed+at, kind)
				for range min(steps-at, 300) {
					w.happen()
				}
				if w.depth = 1; w.opened == 0 || len(w.ends) == 0 { // nothing interrupts from here
					t.Fatalf("seed %d: %d sign-ins, %d ends", seed+at, w.opened, len(w.ends))
				}
				for _, later := range []time.Duration{5 * time.Minute, time.Hour, 23 * time.Hour, 9 * 24 * time.Hour, 20 * 24 * time.Hour, 24 * time.Hour, 30 * 24 * time.Hour, 28 * 24 * time.Hour} {
					w.clock.Advance(later)
					w.sweep()
					w.judge(w.sessions)
				}
			}
		})
	}
}

// happen lets one thing happen.
func (w *endsWorld) happen() {
	w.clock.Advance(pick(w, []time.Duration{time.Millisecond, time.Millisecond, time.Second, 10 * time.Second, time.Minute, 4 * time.Minute, 30 * time.Minute, 12 * time.Hour, 6 * 24 * time.Hour}))
	switch w.random.IntN(20) {
	case 0, 1, 2, 3:
		w.signIn()
	case 4, 5:
		w.begin()
	case 6, 7:
		w.complete()
	case 8:
		w.code()
	case 9:
		w.adopt()
	case 10:
		w.sweep()
	case 11:
		w.start(pick(w, w.processes))
	case 12, 13:
		w.end()
	default:
		w.read()
	}
}

// interrupt lets something happen at times while a request is being handled.
func (w *endsWorld) interrupt() {
	if w.depth > 0 || w.random.IntN(4) > 0 {
		return
	}
	w.depth++
	defer func(serving *endsProcess) { w.depth, w.serving = w.depth-1, serving }(w.serving)
	w.clock.Advance(pick(w, []time.Duration{time.Millisecond, time.Second, time.Minute, 10 * time.Minute}))
	w.end()
	w.clock.Advance(pick(w, []time.Duration{time.Millisecond, time.Second, time.Minute, 10 * time.Minute}))
}

// interruptAsking interrupts a process that asks the store. Its reads of a session share
// one answer of the store, so none of them may happen inside of another one.
func (w *endsWorld) interruptAsking() {
	w.asking = w.serving
	defer func() { w.asking = nil }()
	w.interrupt()
}

func (w *endsWorld) sweep() {
	if _, err := pick(w, w.processes).auth.Sweep(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// end ends sessions, in one of the ways there are.
func (w *endsWorld) end() {
	switch w.random.IntN(8) {
	case 0, 1, 2:
		w.signOut()
	case 3:
		id := w.person()
		w.endAll(id, "ticket", func(p *endsProcess) error {
			return p.auth.Users().Unlink(w.t.Context(), latchkey.AccountRef{UserID: id, Provider: "ticket", ProviderAccountID: id})
		})
	case 4:
		id := w.person()
		if w.random.IntN(4) == 0 {
			w.endAll(id, "", func(p *endsProcess) error { return p.auth.Users().Delete(w.t.Context(), id) })
		}
	default:
		id := w.person()
		w.endAll(id, "", func(p *endsProcess) error { return p.auth.Users().EndSessions(w.t.Context(), id) })
	}
}

func (w *endsWorld) endAll(id, provider string, end func(*endsProcess) error) {
	if provider != "" && w.kind.strategy == latchkey.JWTSessions {
		return // tokens do not say who opened them
	}
	e := endsEnd{user: id, provider: provider, step: w.step}
	w.step++
	err := end(pick(w, w.processes))
	if errors.Is(err, latchkey.ErrNotFound) || errors.Is(err, latchkey.ErrLastAccount) {
		return
	}
	if err != nil {
		w.t.Fatal(err)
	}
	e.at = w.clock.Now()
	w.ends = append(w.ends, e)
	for _, s := range w.sessions {
		if s.ended.IsZero() && s.user == id && s.evidence <= e.step && (provider == "" || provider == s.provider) {
			s.ended = e.at
		}
	}
}

// signOut ends one session by one of its tokens.
func (w *endsWorld) signOut() {
	if len(w.sessions) == 0 {
		return
	}
	s, p := pick(w, w.sessions), pick(w, w.processes)
	for p == w.asking {
		p = pick(w, w.processes)
	}
	token := pick(w, s.copies)
	if !w.isLive(p, s, token) || w.isOver(p, token) { // this copy ends nothing any more
		return
	}
	w.serve(p, http.MethodPost, "/auth/signout", s, token)
	if s.ended.IsZero() {
		s.ended = w.clock.Now()
	}
}

// serve sends a request with a token and keeps the token that takes its place.
func (w *endsWorld) serve(p *endsProcess, method, path string, s *endsSession, token string) *httptest.ResponseRecorder {
	b := w.browser(nil)
	b.Jar = map[string]string{}
	if !s.bearer {
		b.Jar[endsCookie] = token
	}
	r := b.Request(method, path, nil)
	if s.bearer {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	a := httptest.NewRecorder()
	w.at(p).ServeHTTP(a, r)
	renewed := a.Header().Get("Session-Token")
	for _, c := range a.Result().Cookies() {
		if c.Name == endsCookie && c.MaxAge >= 0 && !s.bearer {
			renewed = c.Value
		}
	}
	if renewed != "" && !slices.Contains(s.copies, renewed) {
		if len(s.copies) > 4 { // the first and the latest
			s.copies = slices.Delete(s.copies, 1, 2)
		}
		s.copies = append(s.copies, renewed)
	}
	return a
}

func (w *endsWorld) isLive(p *endsProcess, s *endsSession, token string) bool {
	a := w.serve(p, http.MethodGet, "/auth/session", s, token)
	return a.Code == http.StatusOK && a.Body.String() != "null"
}

// read reads a session somewhere.
func (w *endsWorld) read() {
	if len(w.sessions) > 0 {
		w.judge([]*endsSession{pick(w, w.sessions)})
	}
}

// judge reads every copy of sessions in every process.
func (w *endsWorld) judge(sessions []*endsSession) {
	w.t.Helper()
	for _, s := range sessions {
		for _, token := range slices.Clone(s.copies) {
			for i, p := range w.processes {
				if w.depth == 1 && s.ended.IsZero() {
					continue
				}
				was, asked := s.ended, w.clock.Now()
				if w.isLive(p, s, token) && !was.IsZero() && !asked.Before(was.Add(5*time.Minute)) {
					w.t.Fatalf("a session of %q, opened by %q, is alive in process %d %v after its end", s.user, s.provider, i, asked.Sub(was))
				}
			}
		}
	}
}

func discardedAnswer() http.ResponseWriter { return httptest.NewRecorder() }

// endsParts are the abilities of a store without transactions.
type endsParts interface {
	storage.Adapter
	storage.SessionAdapter
	storage.SessionListAdapter
	storage.VerificationTokenAdapter
	storage.AccountAdapter
	storage.UserDeletionAdapter
	storage.SignUpAdapter
	storage.SweepAdapter
	storage.RevocationStore
}

var _ endsParts = (*memoryadapter.Adapter)(nil)

// patchyStore is a store without transactions. Between its calls other things
// happen.
type patchyStore struct {
	endsParts
	interrupt, interruptAsking func()
}

func (l *patchyStore) CreateSession(ctx context.Context, s storage.StoredSession) error {
	l.interrupt()
	err := l.endsParts.CreateSession(ctx, s)
	l.interrupt()
	return err
}

func (l *patchyStore) GetUserByAccount(ctx context.Context, provider, id string) (storage.User, error) {
	u, err := l.endsParts.GetUserByAccount(ctx, provider, id)
	l.interrupt()
	return u, err
}

func (l *patchyStore) RevokedAt(ctx context.Context, keys ...string) (map[string]time.Time, error) {
	found, err := l.endsParts.RevokedAt(ctx, keys...)
	if len(keys) > 0 {
		l.interruptAsking()
	}
	return found, err
}
