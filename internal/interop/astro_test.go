package interop

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// astroRows are calls of the client that Astro sites have, as solidRows are of
// SolidStart's. It sends the window on also where it is told not to, unless a password
// was wrong.
var astroRows = []struct {
	name, call       string
	result, location string
	who              string
	denied           bool
}{
	{
		name: "a wrong password", call: `signIn("credentials", {redirect: false, username: "ada", password: "wrong"}).then((answer) => answer.json())`,
		result: `{"url":"SITE/api/auth/signin?error=CredentialsSignin&code=credentials"}`,
	},
	{
		name: "a wrong password, with the window", call: `signIn("credentials", {username: "ada", password: "wrong"})`,
		location: "SITE/api/auth/signin?error=CredentialsSignin&code=credentials",
	},
	{
		name: "the right password", call: `signIn("credentials", {redirect: false, username: "ada", password: "lovelace", callbackUrl: "SITE/inbox?a=b"})`,
		location: "SITE/inbox?a=b", who: "ada",
	},
	{name: "signing out", call: `signOut({callbackUrl: "SITE/bye"})`, location: "SITE/bye"},
	{
		name: "a provider that refuses", call: `signIn("issuer", {callbackUrl: "SITE/inbox"})`, denied: true,
		location: "SITE/api/auth/signin?error=OAuthCallbackError",
	},
	{
		name: "a provider", call: `signIn("issuer", {callbackUrl: "SITE/inbox"}, {login_hint: "grace"})`,
		location: "SITE/inbox", who: "Grace",
	},
	{name: "signing out to where one is", call: `signOut()`, location: "SITE/here"},
	{
		name: "a place on the page", call: `signIn("credentials", {username: "Žofia", password: "lovelace", callbackUrl: "SITE/here#new"})`,
		location: "SITE/here#new", who: "Žofia",
	},
	{name: "to another site after signing out", call: `signOut({callbackUrl: "https://other.example/"})`, location: "SITE/"},
	{
		name: "where one is, with a prefix", call: `signIn("credentials", {username: "ada", password: "lovelace", prefix: "/api/auth"})`,
		location: "SITE/here", who: "ada",
	},
	{name: "signing out with a prefix", call: `signOut({prefix: "/api/auth"})`, location: "SITE/here"},
}

// TestMovedFromAstro is R-826: a site of Astro with auth-astro moves to Go with its secret.
// Sessions live on, in both directions; who is signed in getSession and ReadSession agree
// on; a sign-out at one is one at both. Its client, as it is published, does in Chromium
// at our server what it does at Auth.js, and the pages that stay at Astro know both
// servers' sessions.
func TestMovedFromAstro(t *testing.T) {
	chromium := startChromium(t)
	iss := latchkeytest.NewIssuer(t)
	astro := startAstro(t, iss)
	ours := afterAstro(t, iss)
	t.Run("R-826 the whole site", func(t *testing.T) {
		s := &switchingSite{sites: [2]http.Handler{astro, ours}}
		walkBothWays(t, s, serve(t, s), "/me", signInByPassword)
	})
	for name, auth := range map[string]http.Handler{"Auth.js": astro, "Latchkey": ours} {
		t.Run("R-826 the routes alone, at "+name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.Handle("/api/auth/", auth)
			mux.Handle("/", astro)
			visitAstro(t, openWindow(t, chromium, serve(t, mux)), iss)
		})
	}
}

func visitAstro(t *testing.T, w *window, iss *latchkeytest.Issuer) {
	t.Helper()
	iss.SignInAs(latchkeytest.Person{Subject: "grace", Name: "Grace", Email: "grace@example.com", EmailVerified: true})
	before := len(iss.Requests(latchkeytest.PathAuthorize))
	for _, row := range astroRows {
		t.Run(row.name, func(t *testing.T) {
			iss.Misbehave(latchkeytest.Misbehaviour{})
			if row.denied {
				iss.Misbehave(latchkeytest.Misbehaviour{Callback: func(q url.Values) { q.Del("code"); q.Set("error", "access_denied") }})
			}
			w.t = t
			w.open("/here")
			there := func(text string) string { return strings.ReplaceAll(text, "SITE", w.url) }
			if row.result == "" {
				w.leave(there(row.call), there(row.location))
			} else {
				w.stay(there(row.call), there(row.result))
			}
			w.open("/here")
			w.signedIn("/api/auth", row.who)
			if row.who == "" {
				w.shows("#who", "Nobody is signed in.")
			} else {
				w.shows("#who", "Hello, "+row.who)
			}
		})
	}
	asked := iss.Requests(latchkeytest.PathAuthorize)[before:]
	if len(asked) != 2 || asked[1].Query.Get("login_hint") != "grace" {
		t.Errorf("the provider was asked %d times, want 2, or without what the client adds", len(asked))
	}
}

// startAstro builds and starts the site of the folder astro.
func startAstro(t *testing.T, iss *latchkeytest.Issuer) http.Handler {
	t.Helper()
	node := installed(t, "astro")
	_, issuer := atIssuer(iss)
	t.Setenv("AUTH_SECRET", newSecret)
	t.Setenv("ISSUER", string(asJSON(t, issuer)))
	t.Setenv("ASTRO_TELEMETRY_DISABLED", "1")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	build := exec.CommandContext(ctx, node, filepath.Join("node_modules", "astro", "astro.js"), "build")
	build.Dir, build.SysProcAttr, build.Env = "astro", dieWithParent(), os.Environ()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("astro build: %v\n%s", err, out)
	}
	return reverseProxy(t, startPeer(t, "astro", "site.mjs").url())
}

// afterAstro is the site after its move: getSession(Astro.request) is ReadSession.
func afterAstro(t *testing.T, iss *latchkeytest.Issuer) http.Handler {
	t.Helper()
	p, _ := atIssuer(iss)
	auth := newAuth(t, latchkey.Config{
		Site:      latchkey.Site{BasePath: "/api/auth"},
		Providers: []latchkey.Provider{credentials(), p},
		Callbacks: latchkey.Callbacks{Session: func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
			r.Session.User.Extra = latchkey.Claims{"id": r.Claims["sub"]}
			return r.Session, nil
		}},
	})
	mux := http.NewServeMux()
	mux.Handle("/api/auth/", auth)
	mux.HandleFunc("/me", func(w http.ResponseWriter, r *http.Request) {
		s, err := auth.ReadSession(w, r)
		if err != nil {
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
			return
		}
		sayWho(w, s)
	})
	return mux
}
