package sitetest

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// namedSession is a session, with what its providers call it.
type namedSession struct {
	jar   map[string]string
	names []nameThere
	ended time.Time // zero: it has to be alive
}

// nameThere is what a provider calls the session of one sign-in.
type nameThere struct {
	sub, sid string
	issued   int64 // of its ID token
}

// isEndedBy reports whether a logout token with the claims ends the session.
func (s *namedSession) isEndedBy(claims map[string]any, issued int64) bool {
	sid, named := claims["sid"]
	return slices.ContainsFunc(s.names, func(n nameThere) bool {
		return (named && n.sid == sid || !named && n.sub == claims["sub"]) && n.issued <= issued
	})
}

// leavingWorld is two processes of a site on one store, and sessions that end at the
// provider.
type leavingWorld struct {
	*oauthSite
	random    *rand.Rand
	processes []*latchkey.Auth
	sessions  []*namedSession
	used      []string // logout tokens that were accepted
	logouts   int
	links     int
	meanwhile func() // runs between the answer of the provider and the end of a sign-in
	caches    []time.Duration
}

func newLeavingWorld(t *testing.T, strategy latchkey.Strategy, random *rand.Rand) *leavingWorld {
	t.Helper()
	w := &leavingWorld{random: random, caches: []time.Duration{0, time.Minute}}
	w.oauthSite = newOAuthSite(t, withIssuer(func(o *latchkey.OAuth) { o.Logout = latchkey.Logout{BackChannel: true} }), second(unchanged), func(c *latchkey.Config) {
		c.Session.Strategy, c.Limits.Disabled, c.Limits.Replay = strategy, true, &usedValues{}
		c.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error {
			if f := w.meanwhile; f != nil {
				w.meanwhile = nil
				f()
			}
			return nil
		}
	})
	w.start()
	return w
}

// usedValues are values that processes share and that were used. They are never new
// again.
type usedValues struct{ sync.Map }

func (u *usedValues) Use(_ context.Context, key string, _ time.Time) (bool, error) {
	_, used := u.LoadOrStore(key, true)
	return !used, nil
}

// start begins the processes anew.
func (w *leavingWorld) start() {
	w.t.Helper()
	w.processes = nil
	for _, age := range w.caches {
		c := w.config
		c.Session.Cache.MaxAge = age
		auth, err := latchkey.New(c)
		if err != nil {
			w.t.Fatal(err)
		}
		w.processes = append(w.processes, auth)
	}
	w.auth = w.processes[0]
}

func (w *leavingWorld) sub() string { return oneOf(w.random, []string{"ada", "bob"}) }

func (w *leavingWorld) sid(sub string) string { return sub + strconv.Itoa(w.random.IntN(3)) }

// signIn opens a session. At times it ends at the provider before it is open, or the
// tokens of its account are revoked.
func (w *leavingWorld) signIn() {
	w.t.Helper()
	sub := w.sub()
	sid := w.sid(sub)
	w.issuer.SignInAs(latchkeytest.Person{Subject: sub, Email: sub + "@example.com", EmailVerified: true, Claims: map[string]any{"sid": sid}})
	s := &namedSession{names: []nameThere{{sub, sid, w.clock.Now().Unix()}}}
	isVoid, isRevoked := false, false
	switch w.random.IntN(4) {
	case 0:
		w.meanwhile = func() {
			isVoid = w.tell(w.claims(sub, sid)) >= s.names[0].issued
			w.clock.Advance(time.Second)
		}
	case 1:
		w.meanwhile = func() { isRevoked = w.revoke(sub) }
	}
	b := w.newBrowser()
	a := w.oauthSite.signIn(b)
	if !a.signsIn() {
		if !isVoid {
			w.t.Fatalf("a sign-in that nothing voids is refused: %q", a.location())
		}
		return
	}
	if s.jar = b.jar; isVoid {
		s.ended = w.clock.Now()
	}
	w.sessions = append(w.sessions, s)
	if isRevoked {
		w.noTokens(sub)
	}
}

// link links a new account of the second provider in a session, which is then ended by the
// names of both sign-ins. At times one of them ends it while the link is under way.
func (w *leavingWorld) link() {
	w.t.Helper()
	own := slices.IndexFunc(w.sessions, func(s *namedSession) bool { return s.ended.IsZero() && len(s.names) < 4 })
	if own < 0 {
		return
	}
	s := w.sessions[own]
	w.links++
	sub := "work" + strconv.Itoa(w.links)
	w.issuer.SignInAs(latchkeytest.Person{Subject: sub, Email: sub + "@example.com", EmailVerified: true, Claims: map[string]any{"sid": sub + "s"}})
	isVoid, joined := false, nameThere{sub, sub + "s", w.clock.Now().Unix()}
	if n := oneOf(w.random, append(s.names, joined)); w.random.IntN(3) == 0 {
		w.meanwhile = func() {
			isVoid = w.tell(w.claims(n.sub, n.sid)) >= n.issued
			w.clock.Advance(time.Second)
		}
	}
	b := w.newBrowser()
	maps.Copy(b.jar, s.jar)
	a := b.callback("second", w.authResponse(b, "second"))
	if a.signsIn() {
		s.jar, s.names = b.jar, append(s.names, joined)
		if isVoid && s.ended.IsZero() {
			s.ended = w.clock.Now()
		}
		return
	}
	if !isVoid {
		w.t.Fatalf("a link that nothing voids is refused: %q", a.location())
	}
	if s.ended.IsZero() { // the former session may have ended with the new one
		w.sessions = slices.DeleteFunc(w.sessions, func(other *namedSession) bool { return other == s })
	}
}

// revoke revokes the tokens of a person. It returns false if the person is new.
func (w *leavingWorld) revoke(sub string) bool {
	w.t.Helper()
	for _, a := range w.store.Contents().Accounts {
		if a.ProviderAccountID == sub {
			err := oneOf(w.random, w.processes).Users().RevokeTokens(w.t.Context(), latchkey.AccountRef{UserID: a.UserID, Provider: "issuer"})
			if err != nil {
				w.t.Fatal(err)
			}
			return true
		}
	}
	return false
}

// noTokens fails the test if an account has tokens from before they were revoked.
func (w *leavingWorld) noTokens(sub string) {
	w.t.Helper()
	for _, a := range w.store.Contents().Accounts {
		if a.ProviderAccountID == sub && (a.Tokens.AccessToken != "" || a.Tokens.RefreshToken != "") {
			w.t.Fatal("tokens are stored whose code was traded before they were revoked")
		}
	}
}

// claims names a session or a person in a logout token.
func (w *leavingWorld) claims(sub, sid string) map[string]any {
	return oneOf(w.random, []map[string]any{{"sid": sid}, {"sub": sub}, {"sub": sub, "sid": sid}})
}

// tell posts a new logout token, and has the sessions that it names end in the model. It
// returns when the token was issued, which is at times before now.
func (w *leavingWorld) tell(claims map[string]any) (at int64) {
	w.t.Helper()
	issued := w.clock.Now()
	if w.random.IntN(3) == 0 {
		issued = issued.Add(-time.Duration(w.random.IntN(90)) * time.Second)
	}
	token := w.issuer.LogoutToken(w.t, func(c map[string]any) {
		maps.Copy(c, claims)
		c["iat"] = issued.Unix()
	})
	if code := w.post(token); code != http.StatusOK {
		w.t.Fatalf("a good logout token: status %d", code)
	}
	w.used, w.logouts = append(w.used, token), w.logouts+1
	for _, s := range w.sessions {
		if s.isEndedBy(claims, issued.Unix()) && s.ended.IsZero() {
			s.ended = w.clock.Now()
		}
	}
	return issued.Unix()
}

func (w *leavingWorld) post(token string) int {
	w.t.Helper()
	b := w.newBrowser()
	return b.serve(oneOf(w.random, w.processes), b.request(http.MethodPost, "/auth/backchannel-logout/issuer", formContentType, latchkeytest.LogoutForm(token).Encode())).Code
}

// judge reads a session in each process. One that a process has cached may live for as
// long as the cache says.
func (w *leavingWorld) judge(s *namedSession) {
	w.t.Helper()
	for i, auth := range w.processes {
		b := w.newBrowser()
		maps.Copy(b.jar, s.jar)
		lives := b.serve(auth, b.request(http.MethodGet, "/auth/session", "", "")).Body.String() != "null"
		switch {
		case s.ended.IsZero() && !lives:
			w.t.Fatalf("a session of %v is dead in process %d, and no logout named it", s.names, i)
		case !s.ended.IsZero() && lives && !w.clock.Now().Before(s.ended.Add(w.caches[i])):
			w.t.Fatalf("a session of %v is alive in process %d, %v after its logout", s.names, i, w.clock.Now().Sub(s.ended))
		}
	}
}

// ask asks for a token of a person. A grant that was revoked stays revoked.
func (w *leavingWorld) ask() {
	w.t.Helper()
	for _, a := range w.store.Contents().Accounts {
		_, err := oneOf(w.random, w.processes).Users().AccessToken(w.t.Context(), latchkey.AccountRef{UserID: a.UserID, Provider: "issuer", ProviderAccountID: a.ProviderAccountID}, latchkey.TokenOptions{})
		if hasNone := a.Tokens.RefreshToken == ""; hasNone != errors.Is(err, latchkey.ErrReconnect) {
			w.t.Fatalf("a token of %s, whose row has a refresh token: %t: %v", a.ProviderAccountID, !hasNone, err)
		}
	}
}

// happen lets one thing happen.
func (w *leavingWorld) happen() {
	w.t.Helper()
	w.clock.Advance(oneOf(w.random, []time.Duration{time.Second, time.Second, 10 * time.Second, time.Minute, 20 * time.Minute}))
	switch n := w.random.IntN(30); {
	case n < 3:
		w.signIn()
	case n < 5:
		sub := w.sub()
		w.tell(w.claims(sub, w.sid(sub)))
	case n == 5 && len(w.used) > 0:
		if code := w.post(oneOf(w.random, w.used)); code != http.StatusBadRequest {
			w.t.Fatalf("a logout token that was used: status %d", code)
		}
	case n == 6:
		w.ask()
	case n == 8 || n == 9:
		w.link()
	case n == 7 && len(w.config.Secrets) < 3:
		w.used = nil // what was used is remembered under the secret of before
		w.config.Secrets = append([]string{"secret number " + strconv.Itoa(len(w.config.Secrets)) + ", which is long enough"}, w.config.Secrets...)
		w.start()
	default:
		if len(w.sessions) > 0 {
			w.judge(oneOf(w.random, w.sessions))
		}
	}
}

// TestLogoutAtProviderIsFinal has sessions end by logout tokens at random: by sid and by
// sub, late, repeated, before a sign-in is complete, in one of two processes, before and
// after a secret was rotated, and in sessions in which an account was linked (P-B). A session is dead if and only if a logout token named
// it that is no older than its ID token, and tokens that were revoked while a sign-in was
// under way are not stored. With each strategy 1,000 things happen, times LATCHKEY_STEPS.
// Without a guard it fails at once:
//   - instant of sessions: "a session of [{ada ada1 …}] is alive in process 0, 1m0s after its logout";
//   - names of the former session: "a session of [{ada ada1 …} {work4 work4s …}] is alive in process 0, 2s after its logout";
//   - instant of tokens: "tokens are stored whose code was traded before they were revoked".
func TestLogoutAtProviderIsFinal(t *testing.T) {
	both(t, "P-B", func(t *testing.T, strategy latchkey.Strategy) {
		seed, steps := race.Steps(t, 1000)
		for at := 0; at < steps; at += 1000 {
			w := newLeavingWorld(t, strategy, rand.New(rand.NewPCG(seed+uint64(at), 9)))
			for range min(steps-at, 1000) {
				w.happen()
			}
			w.clock.Advance(10 * time.Minute)
			for _, s := range w.sessions {
				w.judge(s)
			}
			if len(w.sessions) == 0 || w.logouts == 0 || w.links == 0 {
				t.Fatalf("%d sessions, %d logouts, %d links", len(w.sessions), w.logouts, w.links)
			}
		}
	})
}
