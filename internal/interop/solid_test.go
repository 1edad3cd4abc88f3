package interop

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// solidRows are calls of the client that SolidStart sites have, as clientRows are
// of SvelteKit's. It always asks at /api/auth, and signOut always sends the window
// on. In a row that sets denied the provider's user refuses.
var solidRows = []struct {
	name, call       string
	result, location string
	who              string
	denied           bool
}{
	{
		name: "a wrong password", call: `signIn("credentials", {redirect: false, username: "ada", password: "wrong"})`,
		result: `{"error":"CredentialsSignin","code":"credentials","status":200,"ok":true,"url":null}`,
	},
	{
		name: "a wrong password, with the window", call: `signIn("credentials", {username: "ada", password: "wrong"})`,
		location: "SITE/api/auth/signin?error=CredentialsSignin&code=credentials",
	},
	{
		name: "the right password", call: `signIn("credentials", {redirect: false, username: "ada", password: "lovelace", redirectTo: "SITE/inbox?a=b#c"})`,
		result: `{"status":200,"ok":true,"url":"SITE/inbox?a=b#c"}`, who: "ada",
	},
	{name: "signing out", call: `signOut({callbackUrl: "SITE/bye"})`, location: "SITE/bye"},
	{
		name: "the right password, with the window", call: `signIn("credentials", {username: "Žofia", password: "lovelace", callbackUrl: "SITE/inbox"})`,
		location: "SITE/inbox", who: "Žofia",
	},
	{name: "signing out to where one is", call: `signOut()`, location: "SITE/here"},
	{name: "a provider", call: `signIn("issuer", {redirect: false})`, result: `{"status":200,"ok":true,"url":"*"}`},
	{
		name: "a provider that refuses", call: `signIn("issuer", {redirectTo: "SITE/inbox"})`, denied: true,
		location: "SITE/api/auth/signin?error=OAuthCallbackError",
	},
	{
		name: "a provider, with the window", call: `signIn("issuer", {redirectTo: "SITE/inbox"}, {login_hint: "grace"})`,
		location: "SITE/inbox", who: "Grace",
	},
	{name: "signing out when a provider signed in", call: `signOut({callbackUrl: "/here#gone"})`, location: "SITE/here#gone"},
	{
		name: "a place on the page", call: `signIn("credentials", {username: "ada", password: "lovelace", redirectTo: "SITE/here#new"})`,
		location: "SITE/here#new", who: "ada",
	},
	{name: "to another site after signing out", call: `signOut({callbackUrl: "https://other.example/"})`, location: "SITE/"},
	{
		name: "a magic link", call: `signIn("email", {redirect: false, email: "ada@example.com"})`,
		result: `{"status":200,"ok":true,"url":"SITE/api/auth/verify-request?provider=email&type=email"}`,
	},
	{
		name: "a magic link, with the window", call: `signIn("email", {email: "ada@example.com"})`,
		location: "SITE/api/auth/verify-request?provider=email&type=email",
	},
	{
		name: "a magic link to no mailbox", call: `signIn("email", {redirect: false, email: "nobody"})`,
		result: `{"error":"Configuration","status":200,"ok":true,"url":null}`,
	},
	{
		name: "an unknown provider", call: `signIn("unknown", {redirect: false})`,
		result: `{"error":"Configuration","status":200,"ok":true,"url":null}`,
	},
}

// TestSolidClient is R-730: the client of @auth/solid-start, as it is published, does
// in Chromium at our server what it does at Auth.js.
func TestSolidClient(t *testing.T) {
	installed(t, "authjs")
	chromium := startChromium(t)
	iss := latchkeytest.NewIssuer(t)
	p, issuer := atIssuer(iss)
	for name, auth := range map[string]http.Handler{
		"Latchkey": ourTwin(t, latchkey.Config{Site: latchkey.Site{BasePath: "/api/auth"}, Providers: []latchkey.Provider{p}}),
		"Auth.js":  reverseProxy(t, theirSite{Secrets: []string{newSecret}, BasePath: "/api/auth", Issuer: issuer}.start(t)),
	} {
		t.Run(name, func(t *testing.T) {
			before := len(iss.Requests(latchkeytest.PathAuthorize))
			runSolidClient(t, openWindow(t, chromium, serve(t, solidSite(auth))), iss)
			asked := iss.Requests(latchkeytest.PathAuthorize)[before:]
			if len(asked) != 2 || asked[1].Query.Get("login_hint") != "grace" {
				t.Errorf("the provider was asked %d times, want 2, or without what the client adds", len(asked))
			}
		})
	}
}

func runSolidClient(t *testing.T, w *window, iss *latchkeytest.Issuer) {
	t.Helper()
	iss.SignInAs(latchkeytest.Person{Subject: "grace", Name: "Grace", Email: "grace@example.com", EmailVerified: true})
	for _, row := range solidRows {
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
		})
	}
}

// solidSite is a site whose pages have the client as window.client.
func solidSite(auth http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/api/auth/", auth)
	mux.HandleFunc("/client.js", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join("authjs", "node_modules", "@auth", "solid-start", "client.js"))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,">
<script type="module">window.client = await import("/client.js")</script>`)
	})
	return mux
}
