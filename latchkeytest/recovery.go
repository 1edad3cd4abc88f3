package latchkeytest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestRecovery tests that a user who has lost every second factor can remove them after
// [latchkey.Factors].RecoveryDelay, on two instances of a site that share a store. The
// mails that are due leave once, also while more than 1,000 other requests wait, and the
// link works once. The library and the store keep this promise together;
// storagetest.TestAdapter tests the promises of the store alone.
//
// open returns a store without any users. The test is skipped for a store that lacks what
// second factors need.
func TestRecovery(t *testing.T, open func(t *testing.T) storage.Adapter) {
	t.Helper()
	for _, strategy := range []latchkey.Strategy{latchkey.JWTSessions, latchkey.DatabaseSessions} {
		t.Run("lost second factors are removed once after a delay, with sessions of the kind "+string(strategy), func(t *testing.T) {
			s := newRecoverySite(t, open(t), strategy)
			s.crowd(1001)
			phone, lost := s.signedIn(), s.ask()
			s.clock.Add(int64(recoveryDelay / 2))
			s.lookAtOnce()
			s.mailed(latchkey.MessageRecoverySoon, 1)
			s.clock.Add(int64(recoveryDelay / 2))
			s.lookAtOnce()
			link := s.mailed(latchkey.MessageRecoveryReady, 1)
			s.firstFactor(lost)
			if to := lost.Post(link, url.Values{}).Location(); to == nil || to.Query().Get("done") != "recovery" {
				t.Fatalf("the link leads to %v", to)
			}
			if phone.Session() != nil {
				t.Error("a session of the user goes on")
			}
			s.has(0)
			s.clock.Add(int64(time.Minute))
			if p := s.firstFactor(lost); lost.Session() == nil {
				t.Fatalf("the first factor does not sign in: %s", p.Describe())
			}
			s.enrol()
			s.firstFactor(lost)
			lost.Post(link, url.Values{})
			s.has(1)
		})
	}
	t.Run("a removal of lost second factors is stopped by its mail", func(t *testing.T) {
		s := newRecoverySite(t, open(t), latchkey.DatabaseSessions)
		s.ask()
		stop := s.mailed(latchkey.MessageRecoveryStarted, 1)
		if p := s.browser(1).Post(stop, url.Values{}); p.Location() == nil {
			t.Fatal(p.Describe())
		}
		s.clock.Add(int64(recoveryDelay))
		s.lookAtOnce()
		s.mailed(latchkey.MessageRecoveryReady, 0)
		s.has(1)
	})
}

const (
	recoveryDelay = 72 * time.Hour
	recoveryMail  = "ada@example.com"
)

// recoverySite is a site of two instances with one user, who has an authenticator app.
// Each browser talks to one of them.
type recoverySite struct {
	t     *testing.T
	store storage.Adapter
	sites [2]*latchkey.Auth
	box   Mailbox
	clock atomic.Int64 // nanoseconds that have passed
	start time.Time
	user  storage.User
	app   *CodeApp
}

// newRecoverySite returns a site on store, after it has stored and enrolled the user. It
// skips the test if the store lacks what second factors need.
func newRecoverySite(t *testing.T, store storage.Adapter, strategy latchkey.Strategy) *recoverySite {
	t.Helper()
	_, factors := store.(storage.FactorAdapter)
	_, challenges := store.(storage.ChallengeAdapter)
	_, browsers := store.(storage.BrowserAdapter)
	revocations, revokes := store.(storage.RevocationStore)
	if !factors || !challenges || !browsers || !revokes {
		t.Skip("the store is no FactorAdapter, ChallengeAdapter, BrowserAdapter or RevocationStore")
	}
	s := &recoverySite{t: t, store: store, start: time.Now()}
	for i := range s.sites {
		c := latchkey.Config{
			Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"one secret of both instances of the adapter suite"},
			Adapter: store, Limits: latchkey.Limits{Disabled: true},
			Session:   latchkey.SessionConfig{Strategy: strategy, MaxAge: 30 * 24 * time.Hour, Revocations: revocations},
			Factors:   latchkey.Factors{Kinds: []latchkey.FactorKind{latchkey.FactorTOTP}, RecoveryDelay: recoveryDelay},
			Providers: []latchkey.Provider{&latchkey.Email{Send: s.box.Send}},
			Runtime: latchkey.Runtime{
				Logger: slog.New(slog.DiscardHandler), Time: s.now, Background: func(f func(context.Context)) { f(context.WithoutCancel(t.Context())) },
			},
		}
		var err error
		if s.sites[i], err = latchkey.New(c); err != nil {
			t.Fatal(err)
		}
	}
	u, err := store.CreateUser(t.Context(), storage.User{Email: recoveryMail, EmailVerified: s.start})
	if err != nil {
		t.Fatal(err)
	}
	s.user = u
	s.enrol()
	return s
}

func (s *recoverySite) now() time.Time { return s.start.Add(time.Duration(s.clock.Load())) }

// enrol sets up an app of the user.
func (s *recoverySite) enrol() {
	s.t.Helper()
	users := s.sites[0].Users()
	e, err := users.BeginTOTP(s.t.Context(), s.user.ID)
	if err == nil {
		s.app, err = NewCodeApp(e.URI)
	}
	if err == nil {
		_, err = users.ConfirmTOTP(s.t.Context(), s.user.ID, e.ID, "phone", s.app.Code(s.now()))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.clock.Add(int64(time.Minute)) // the code is used up
}

// has fails unless the user has that many factors.
func (s *recoverySite) has(want int) {
	s.t.Helper()
	if rows, err := s.sites[1].Users().Factors(s.t.Context(), s.user.ID); err != nil || len(rows) != want {
		s.t.Errorf("the user has %d factors, error %v, want %d", len(rows), err, want)
	}
}

// browser returns a browser of an instance.
func (s *recoverySite) browser(instance int) *Client { return NewClient(s.t, s.sites[instance]) }

// firstFactor signs in with the first factor, the link of a mail, and returns the answer.
func (s *recoverySite) firstFactor(b *Client) *Page {
	s.t.Helper()
	b.Post("/auth/signin/email", url.Values{"email": {recoveryMail}})
	return b.Get(s.latest(latchkey.MessageSignIn))
}

// latest returns the path of the link in the newest mail of a kind, or "".
func (s *recoverySite) latest(kind latchkey.MessageKind) (path string) {
	for _, m := range s.box.Messages(recoveryMail) {
		if u, err := url.Parse(m.URL); err == nil && m.Kind == kind {
			path = u.RequestURI()
		}
	}
	return path
}

// mailed fails unless want mails of a kind were sent in all. It returns the path of the
// newest one's link.
func (s *recoverySite) mailed(kind latchkey.MessageKind, want int) string {
	s.t.Helper()
	n := 0
	for _, m := range s.box.Messages(recoveryMail) {
		if m.Kind == kind {
			n++
		}
	}
	if n != want {
		s.t.Fatalf("%d mails of the kind %s, want %d", n, kind, want)
	}
	return s.latest(kind)
}

// signedIn returns a browser in which the user has proven both factors.
func (s *recoverySite) signedIn() *Client {
	s.t.Helper()
	b := s.browser(1)
	s.firstFactor(b)
	if p := b.Post("/auth/factor", url.Values{"use": {"totp"}, "code": {s.app.Code(s.now())}}); b.Session() == nil {
		s.t.Fatalf("no session: %s", p.Describe())
	}
	s.clock.Add(int64(time.Minute))
	return b
}

// ask reports the factors as lost, and returns the browser that has.
func (s *recoverySite) ask() *Client {
	s.t.Helper()
	b := s.browser(0)
	s.firstFactor(b)
	if p := b.Post("/auth/factor?do=lost", url.Values{}); p.Location() == nil || p.Location().Query().Get("done") != "lost" {
		s.t.Fatal(p.Describe())
	}
	return b
}

// lookAtOnce makes both instances look for mails that are due, at the same time. Any
// request does that.
func (s *recoverySite) lookAtOnce() {
	s.t.Helper()
	browsers := []*Client{s.browser(0), s.browser(1)}
	race.Run(len(browsers), func(i int) error {
		req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, browsers[i].URL+"/auth/signin", nil)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			err = res.Body.Close()
		}
		return err
	})
}

// crowd stores n requests of other users for a removal, newer than that of the user.
func (s *recoverySite) crowd(n int) {
	s.t.Helper()
	add := func(a storage.Adapter) error {
		for i := range n {
			at := s.start.Add(24 * time.Hour)
			err := a.(storage.ChallengeAdapter).Challenges().Create(s.t.Context(), storage.Challenge{
				ID: fmt.Sprintf("%064d", i), Purpose: "lost", Data: strings.Repeat("x", 64), Created: at, Expires: at.Add(90 * 24 * time.Hour),
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	err := error(nil)
	if able, can := s.store.(storage.TxAdapter); can {
		err = able.InTx(s.t.Context(), add)
	} else {
		err = add(s.store)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}
