package sitetest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
	"github.com/latchkeyhq/latchkey/internal/testclock"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// An endsWorld is several processes over one store, the users of the site, their
// sessions, and what they have begun. It remembers which sessions must be dead.
type endsWorld struct {
	t         *testing.T
	random    *rand.Rand
	clock     *testclock.Clock
	store     storage.Adapter
	apart     storage.SessionStore
	kind      endsKind
	processes []*endsProcess
	sessions  []*endsSession
	pending   []*endsPending
	ends      []endsEnd
	mail      latchkey.Message
	serving   *endsProcess // the one that answers a request, the last one that began
	asking    *endsProcess // the one whose call of the store is interrupted
	step      int          // counts what happens
	depth     int          // of things that happen inside of others
	opened    int          // sign-ins that succeeded
}

// endsKind is a way to keep sessions.
type endsKind struct {
	strategy latchkey.Strategy
	loose    bool // the store has no transactions
	apart    bool // sessions are in a store of their own
}

// endsProcess is one process of the site. Its clock is off by skew, and its sessions
// live for life.
type endsProcess struct {
	auth       *latchkey.Auth
	skew, life time.Duration
}

// endsSession is a session with copies of every token that it had.
type endsSession struct {
	user, provider string
	copies         []string
	bearer         bool
	evidence       int       // the step at which the evidence of its sign-in was issued
	ended          time.Time // zero: it may be alive
}

// endsPending is a sign-in that was begun.
type endsPending struct {
	provider string
	jar      map[string]string
	to       string
	evidence int
	session  *endsSession // that a code for an app belongs to
}

// endsEnd is an end of all sessions of a user. An empty provider means all.
type endsEnd struct {
	user, provider string
	step           int
	at             time.Time
}

const (
	endsSecret = "the secret of several processes, long enough"
	endsCookie = "__Secure-authjs.session-token"
)

func newEndsWorld(t *testing.T, seed uint64, kind endsKind) *endsWorld {
	t.Helper()
	w := &endsWorld{t: t, random: rand.New(rand.NewPCG(seed, 1)), clock: newTestClock(), kind: kind}
	store := memoryadapter.New(memoryadapter.Options{})
	w.store = store
	if kind.loose {
		w.store = &patchyStore{endsParts: store, interrupt: w.interrupt, interruptAsking: w.interruptAsking}
	}
	for _, name := range []string{"ada", "bob", "eve"} {
		w.must(store.CreateUser(t.Context(), latchkey.User{ID: name, Name: name, Email: name + "@example.com", EmailVerified: time.Unix(1, 0)}))
		w.check(store.LinkAccount(t.Context(), latchkey.Account{UserID: name, Provider: "ticket", ProviderAccountID: name, Type: latchkey.TypeOAuth}))
	}
	w.apart = newApartStore()
	for range 3 {
		p := &endsProcess{skew: time.Duration(w.random.Int64N(int64(15*time.Second))) - 7500*time.Millisecond}
		w.start(p)
		w.processes = append(w.processes, p)
	}
	return w
}

func (w *endsWorld) must(_ latchkey.User, err error) { w.check(err) }

func (w *endsWorld) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func pick[T any](w *endsWorld, list []T) T { return list[w.random.IntN(len(list))] }

// at returns the site of a process that is about to answer a request.
func (w *endsWorld) at(p *endsProcess) *latchkey.Auth {
	w.serving = p
	return p.auth
}

// start begins a process anew, with a configuration of its own.
func (w *endsWorld) start(p *endsProcess) {
	w.t.Helper()
	p.life = pick(w, []time.Duration{time.Hour, 24 * time.Hour, 10 * 24 * time.Hour, 30 * 24 * time.Hour})
	c := latchkey.Config{
		Site: latchkey.Site{URL: plainsite.URL}, Secrets: []string{endsSecret}, Adapter: w.store,
		Runtime: latchkey.Runtime{Logger: slog.New(slog.DiscardHandler), Time: func() time.Time { return w.clock.Now().Add(p.skew) }},
		Limits:  latchkey.Limits{Disabled: true},
		Session: latchkey.SessionConfig{Strategy: w.kind.strategy, MaxAge: p.life, UpdateAge: p.life / 4, Bearer: true},
		Providers: []latchkey.Provider{
			&latchkey.Credentials{ID: "password", Fields: []latchkey.Field{{Name: "name"}}, Authorize: w.authorize},
			&latchkey.Email{ID: "post", Send: func(_ context.Context, m latchkey.Message) error { w.mail = m; return nil }},
			w.tickets(),
		},
	}
	c.Session.Cache.MaxAge = pick(w, []time.Duration{0, time.Minute, 5 * time.Minute})
	c.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error { w.interrupt(); return nil }
	if w.kind.apart {
		c.Session.Store = w.apart
	}
	if w.kind.strategy == latchkey.JWTSessions && w.random.IntN(3) > 0 {
		c.Callbacks.Token = w.token
	}
	var err error
	p.auth, err = latchkey.New(c)
	w.check(err)
}

func (w *endsWorld) authorize(ctx context.Context, fields map[string]string, _ *latchkey.Request) (latchkey.User, error) {
	u, err := w.store.GetUserByEmail(ctx, fields["name"]+"@example.com")
	w.interrupt()
	return u, err
}

// token calls users by another name.
func (w *endsWorld) token(_ context.Context, info latchkey.TokenInfo) (latchkey.Claims, error) {
	w.interrupt()
	c := maps.Clone(info.Claims)
	if info.Trigger == latchkey.TriggerSignIn || info.Trigger == latchkey.TriggerSignUp {
		c["sub"] = "crm-" + c.String("sub")
	}
	return c, nil
}

// tickets is a provider that needs no network.
func (w *endsWorld) tickets() latchkey.Provider {
	return &latchkey.OAuth{
		ID: "ticket", ClientID: "c", ClientSecret: "s", Authorization: latchkey.Endpoint{URL: "https://tickets.example/enter"},
		Protocol: latchkey.Protocol{
			Begin: func(back string) (string, error) {
				return "https://tickets.example/enter?" + url.Values{"back": {back}}.Encode(), nil
			},
			Receive: func(_ context.Context, _ *http.Client, _ string, q url.Values) (latchkey.Grant, error) {
				w.interrupt()
				return latchkey.Grant{Profile: latchkey.Claims{"sub": q.Get("ticket"), "name": q.Get("ticket")}}, nil
			},
		},
	}
}

// browser is a browser with some cookies.
func (w *endsWorld) browser(jar map[string]string) *plainsite.Site {
	return &plainsite.Site{T: w.t, Jar: maps.Clone(jar)}
}

func (w *endsWorld) person() string { return pick(w, []string{"ada", "bob", "eve"}) }

// holding returns the cookies of a browser: at times those of a session, which a
// sign-in then takes the place of.
func (w *endsWorld) holding() (map[string]string, *endsSession) {
	jar := map[string]string{}
	if len(w.sessions) == 0 || w.random.IntN(3) > 0 {
		return jar, nil
	}
	s := pick(w, w.sessions)
	if s.bearer {
		return jar, nil
	}
	jar[endsCookie] = pick(w, s.copies)
	return jar, s
}

// signIn signs in by a password.
func (w *endsWorld) signIn() {
	jar, former := w.holding()
	p, b := pick(w, w.processes), w.browser(jar)
	before := b.Jar[endsCookie]
	former = w.liveIn(p, former, before)
	evidence := w.step // what happened while that was read came before the password
	w.step++
	b.Send(w.at(p), http.MethodPost, "/auth/callback/password", url.Values{"name": {w.person()}})
	w.took(p, b, before, former, &endsPending{provider: "password", evidence: evidence})
}

// begin begins a sign-in by a link or at the provider.
func (w *endsWorld) begin() {
	jar, _ := w.holding()
	if w.kind.strategy == latchkey.DatabaseSessions {
		jar = map[string]string{}
	}
	b, p, person := w.browser(jar), pick(w, w.processes), w.person()
	one := &endsPending{provider: pick(w, []string{"post", "ticket"})}
	a := b.Send(w.at(p), http.MethodPost, "/auth/signin/"+one.provider, url.Values{"email": {person + "@example.com"}})
	to := w.mail.URL
	if one.provider == "ticket" {
		u, err := url.Parse(a.Header().Get("Location"))
		w.check(err)
		to = u.Query().Get("back") + "&ticket=" + person
	}
	one.to, one.jar, one.evidence = strings.TrimPrefix(to, plainsite.URL), b.Jar, w.step
	w.step++
	w.pending = append(w.pending, one)
}

// complete completes a sign-in that was begun, or changes a code of an app for a
// token.
func (w *endsWorld) complete() {
	if len(w.pending) == 0 {
		return
	}
	i, p := w.random.IntN(len(w.pending)), pick(w, w.processes)
	one := w.pending[i]
	w.pending = append(w.pending[:i:i], w.pending[i+1:]...)
	b := w.browser(one.jar)
	if one.session != nil {
		token, _, err := w.at(p).BearerToken(b.Request(http.MethodPost, "/app", nil), one.to, endsVerifier)
		if err == nil {
			s := &endsSession{user: one.session.user, provider: one.session.provider, copies: []string{token}, bearer: true, evidence: one.evidence}
			s.ended = one.session.ended // the code belongs to that session
			w.add(s)
		}
		return
	}
	before := b.Jar[endsCookie]
	former := w.liveIn(p, w.having(before), before)
	b.Send(w.at(p), http.MethodGet, one.to, nil)
	w.took(p, b, before, former, one)
}

const endsVerifier = "a verifier of an app, which is random and long enough"

// code makes a code for an app.
func (w *endsWorld) code() {
	if len(w.sessions) == 0 {
		return
	}
	s, p := pick(w, w.sessions), pick(w, w.processes)
	if s.bearer {
		return
	}
	hash := sha256.Sum256([]byte(endsVerifier))
	b := w.browser(map[string]string{endsCookie: pick(w, s.copies)})
	code, err := w.at(p).BearerCode(b.Request(http.MethodGet, "/app", nil), base64.RawURLEncoding.EncodeToString(hash[:]))
	if err == nil {
		w.pending = append(w.pending, &endsPending{to: code, session: s, evidence: s.evidence})
	}
}

// having returns the session that a token belongs to.
func (w *endsWorld) having(token string) *endsSession {
	for _, s := range w.sessions {
		for _, c := range s.copies {
			if c == token && token != "" {
				return s
			}
		}
	}
	return nil
}

// liveIn returns a session if it is alive in a process by this token, else nil: a
// sign-in ends nothing that is no session there.
func (w *endsWorld) liveIn(p *endsProcess, s *endsSession, token string) *endsSession {
	if s == nil || !w.isLive(p, s, token) {
		return nil
	}
	return s
}

// took remembers the session that a browser got, if it got one, and that the one
// it had has ended.
func (w *endsWorld) took(p *endsProcess, b *plainsite.Site, before string, former *endsSession, how *endsPending) {
	token := b.Jar[endsCookie]
	if token == "" || token == before {
		return
	}
	w.opened++
	if former != nil && former.ended.IsZero() && !w.isOver(p, before) {
		former.ended = w.clock.Now()
	}
	s := &endsSession{provider: how.provider, copies: []string{token}, evidence: how.evidence}
	found, err := w.at(p).ReadSession(discardedAnswer(), w.browser(map[string]string{endsCookie: token}).Request(http.MethodGet, "/", nil))
	if err != nil {
		s.ended = w.clock.Now() // it was void when it was opened, and stays so
	} else {
		s.user = strings.TrimPrefix(found.UserID, "crm-")
	}
	w.add(s)
}

// isOver reports whether a token is too old in a process by now: it may have become so
// while a request was under way, and is no session there that could end.
func (w *endsWorld) isOver(p *endsProcess, token string) bool {
	if w.kind.strategy == latchkey.DatabaseSessions {
		return false
	}
	now := w.clock.Now().Add(p.skew)
	claims, err := jwt.NewCodec([]string{endsSecret}, endsCookie).OpenClaims(token, now, p.life)
	issued, _ := claims.Time("iat")
	return errors.Is(err, jwt.ErrExpired) || err == nil && jwtclaims.IsOutlived(issued, now, p.life)
}

// add remembers a session. What was ended since its evidence was issued has ended
// it.
func (w *endsWorld) add(s *endsSession) {
	for _, e := range w.ends {
		if s.ended.IsZero() && e.user == s.user && e.step >= s.evidence && (e.provider == "" || e.provider == s.provider) {
			s.ended = e.at
		}
	}
	w.sessions = append(w.sessions, s)
}

// adopt makes a session of Auth.js, whose tokens live for longer here.
func (w *endsWorld) adopt() {
	if w.kind.strategy != latchkey.JWTSessions {
		return
	}
	name := w.person()
	token, err := jwt.NewCodec([]string{endsSecret}, endsCookie).SealClaims(jwt.Claims{"sub": name, "name": name}, w.clock.Now(), 90*24*time.Hour)
	w.check(err)
	w.sessions = append(w.sessions, &endsSession{user: name, copies: []string{token}, evidence: w.step})
	w.step++
}
