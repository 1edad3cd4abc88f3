package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/client"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/webauthn"
)

// clientPolicy lets in scripts of the site's own, in files, and nothing else.
const clientPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// clientScript has what a page does with the client. onSession is told of what it
// is called with.
const clientScript = `import * as client from "%s"
window.client = client
window.heard = []
const options = Object.fromEntries(new URLSearchParams(location.search))
for (const name in options) options[name] = JSON.parse(options[name])
window.stop = client.onSession((session) => {
  const name = session?.user.role ?? session?.user.name ?? null
  if (name !== heard.at(-1)) heard.push(name) // when it ends may be new
}, options)
`

// clientTest is a site whose pages use the client.
type clientTest struct {
	http.Handler
	role  atomic.Value // shown in sessions, as text; empty: none
	reads atomic.Int64 // of the session
	slow  sync.RWMutex // whoever locks it keeps sessions from being read
}

func newClientTest(t *testing.T) *clientTest {
	t.Helper()
	iss := latchkeytest.NewIssuer(t)
	iss.SignInAs(latchkeytest.Person{Subject: "grace", Name: "Grace", Email: "grace@example.com", EmailVerified: true})
	s := &clientTest{}
	s.role.Store("")
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{TrustHost: true}, Secrets: []string{strings.Repeat("secret ", 6)},
		Adapter: memoryadapter.New(memoryadapter.Options{}), Session: latchkey.SessionConfig{Strategy: latchkey.JWTSessions},
		Providers: []latchkey.Provider{
			iss.Provider(),
			webauthn.Passkey(latchkey.WebAuthn{}),
			&latchkey.Credentials{
				Fields: []latchkey.Field{{Name: "username"}, {Name: "password", Type: "password"}},
				Authorize: func(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
					if typed["password"] != "lovelace" {
						return latchkey.User{}, latchkey.ErrCredentialsSignin
					}
					return latchkey.User{ID: typed["username"], Name: typed["username"]}, nil
				},
			},
		},
		Limits:      latchkey.Limits{CallbackTimeout: time.Minute}, // for slow
		AccountPage: latchkey.AccountPage{Enabled: true},
		Callbacks: latchkey.Callbacks{
			Session: s.show,
			Token: func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) {
				if name, ok := u.Update.(string); ok && u.Trigger == latchkey.TriggerUpdate {
					u.Claims["name"] = name
				}
				return u.Claims, nil
			},
		},
		Runtime: latchkey.Runtime{Logger: slog.New(slog.NewTextHandler(t.Output(), nil))},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Handler = s.routes(auth)
	return s
}

func (s *clientTest) show(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
	s.reads.Add(1)
	s.slow.RLock()
	defer s.slow.RUnlock()
	if role := s.role.Load().(string); role != "" {
		r.Session.User.Extra = latchkey.Claims{"role": role}
	}
	return r.Session, nil
}

func (s *clientTest) routes(auth http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	for path, module := range map[string]string{"/stable.js": "/auth/client/latchkey.js", "/fixed.js": "/auth/client/" + client.Name(client.Module)} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprintf(w, clientScript, module)
		})
	}
	mux.HandleFunc("GET /form", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", clientPolicy)
		fmt.Fprint(w, ownPasskeyForm)
	})
	mux.HandleFunc("GET /{script}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", clientPolicy)
		fmt.Fprintf(w, `<!doctype html><title>Client</title><link rel="icon" href="data:,"><script type="module" src="/%s.js"></script>`, r.PathValue("script"))
	})
	return mux
}

// ownPasskeyForm is a page of the site's own with a form for passkeys.
const ownPasskeyForm = `<!doctype html><title>Form</title><link rel="icon" href="data:,">
<script type="module" src="/auth/client/passkeys.js"></script>
<form data-latchkey-passkey="passkey" method="post" action="/auth/callback/passkey">
<input type="hidden" name="callbackUrl" value="/stable">
<input type="hidden" name="action">
<input type="hidden" name="data">
<input type="email" name="email" autocomplete="username">
<p role="alert" hidden data-latchkey-passkey-error data-refused="Taken." data-failed="Failed."></p>
<button>Sign in</button>
<button id="new" name="do" value="register">Sign up</button>
</form>`

// TestClient uses every function of the client in pages under a strict policy.
// Whatever the console says fails it.
func TestClient(t *testing.T) {
	chromium := startChromium(t)
	for _, walk := range []struct {
		name string
		walk func(*tab, *clientTest)
	}{
		{"R-421 every function", walkClient},
		{"R-421 what a sign-in returns", walkResults},
		{"R-423 two tabs are kept in step", walkInStep},
		{"R-423 a sign-in at a provider shows in the other tab", walkElsewhere},
		{"R-423 a page that comes to the front asks anew", walkFront},
		{"R-423 a page that comes online asks anew", walkOnline},
		{"R-423 a page that polls", walkPolling},
		{"R-423 a page that is brought back asks anew", walkBack},
		{"R-423 tabs with the client of Auth.js", walkAuthJS},
		{"R-423 a failure signs nobody out", walkFailure},
	} {
		t.Run(walk.name, func(t *testing.T) {
			s := newClientTest(t)
			walk.walk(openTab(t, chromium, serve(t, s)), s)
		})
	}
}

// use opens a page with the client.
func (b *tab) use(path string) {
	b.t.Helper()
	b.open(path)
	b.becomes("window.stop !== undefined")
}

// promised is what a promise of the page becomes, as JSON.
func (b *tab) promised(expression string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	raw, err := chromedp.Run(ctx, chromedp.Evaluate[string]("Promise.resolve("+expression+").then((value) => JSON.stringify(value) ?? 'undefined', (error) => String(error))", chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return raw
}

// gives compares what a promise becomes.
func (b *tab) gives(expression, want string) {
	b.t.Helper()
	want = strings.ReplaceAll(want, "SITE", b.origin)
	if got := b.promised(expression); got != want {
		b.t.Errorf("%s\ngives %s\nwant  %s", expression, got, want)
	}
}

// hears waits until onSession was called with these, in this order and no more.
func (b *tab) hears(names ...any) {
	b.t.Helper()
	want, _ := json.Marshal(names)
	quoted, _ := json.Marshal(string(want))
	b.becomes("JSON.stringify(window.heard) === " + string(quoted))
}

const asAda = `client.signIn("credentials", {username: "ada", password: "lovelace", redirect: false})`

func walkClient(b *tab, _ *clientTest) {
	for _, path := range []string{"/stable", "/fixed"} {
		b.use(path)
		b.gives("client.getSession()", "null")
		b.gives("client.getProviders().then(all => Object.values(all).map(p => p.type))", `["oidc","webauthn","credentials"]`)
		b.gives("client.getCsrfToken().then(token => token.length)", "64")
		b.gives("client.updateSession('Countess')", "null")
		b.gives(asAda, `{"status":200,"ok":true,"url":"SITE`+path+`"}`)
		b.gives("client.getSession().then(s => s.user.name)", `"ada"`)
		b.gives("client.updateSession('Countess').then(s => s.user.name)", `"Countess"`)
		b.gives("client.updateSession().then(s => s.user.name)", `"Countess"`)
		b.hears(nil, "ada", "Countess")
		b.gives("client.signOut({redirect: false, redirectTo: '/bye'})", `{"url":"SITE/bye"}`)
		b.hears(nil, "ada", "Countess", nil)
		b.gives("(window.stop(), "+asAda+").then(() => heard.length)", "4")
		b.gives("client.signOut({redirect: false}).then(r => r.url === location.href)", "true")
		b.gives("client.configure({basePath: '/auth//'})", "undefined")
		b.gives("client.getSession()", "null")
	}
}

func walkResults(b *tab, _ *clientTest) {
	b.use("/stable")
	b.gives(`client.signIn("credentials", {username: "ada", password: "x", redirect: false})`,
		`{"error":"CredentialsSignin","code":"credentials","status":200,"ok":true,"url":null}`)
	b.gives(`client.signIn("nobody", {redirect: false})`, `{"error":"InvalidProvider","status":400,"ok":false,"url":null}`)
	b.gives(`client.signIn(undefined, {redirect: false, redirectTo: "/x?y=z"})`, `{"status":200,"ok":true,"url":"SITE/auth/signin?callbackUrl=%2Fx%3Fy%3Dz"}`)
	b.gives(`client.signIn("issuer", {redirect: false}).then(r => r.ok && r.url.startsWith("http"))`, "true")
	b.gives(`client.signIn("credentials", {username: "ada", password: "lovelace", remember: undefined, redirectTo: "/x?error=Old", redirect: false})`,
		`{"status":200,"ok":true,"url":"SITE/x?error=Old"}`) // that page's own
	b.do("sign out", chromedp.Evaluate[chromedp.Void]("void client.signOut({redirectTo: '/fixed'})"))
	b.waitFor("/fixed")
	b.becomes("window.heard?.length > 0")
	b.hears(nil)
	b.do("sign in", chromedp.Evaluate[chromedp.Void]("void client.signIn()"))
	b.waitFor("/auth/signin?callbackUrl=")
}

func walkInStep(b *tab, _ *clientTest) {
	b.use("/stable")
	other := b.another()
	other.use("/fixed")
	b.hears(nil)
	other.hears(nil)
	b.gives(asAda, `{"status":200,"ok":true,"url":"SITE/stable"}`)
	other.hears(nil, "ada")
	other.gives("client.updateSession('Countess').then(s => s.user.name)", `"Countess"`)
	b.hears(nil, "ada", "Countess")
	b.do("sign out", chromedp.Evaluate[chromedp.Void]("void client.signOut({redirectTo: '/fixed'})")) // and is gone
	other.hears(nil, "ada", "Countess", nil)
}

func walkElsewhere(b *tab, s *clientTest) {
	b.use("/stable")
	b.hears(nil)
	other := b.another()
	other.open("/auth/signin?callbackUrl=/fixed")
	other.click(`form[action$="/signin/issuer"] button`)
	other.waitFor("/fixed")
	other.hears("Grace")
	b.hears(nil, "Grace")
	reads := s.reads.Load() // of both; from here on they agree
	other.use("/fixed")
	other.hears("Grace")
	other.gives("client.updateSession('Hopper').then(s => s.user.name)", `"Hopper"`)
	b.hears(nil, "Grace", "Hopper")
	if more := s.reads.Load() - reads; more != 3 {
		b.t.Errorf("the session was read %d times: by the page, by the change, and by the other tab make 3", more)
	}
}

func walkFront(b *tab, s *clientTest) {
	b.use("/stable")
	b.gives(asAda, `{"status":200,"ok":true,"url":"SITE/stable"}`)
	b.hears(nil, "ada")
	s.role.Store("editor")
	shown(b, browser.WindowStateMinimized)
	b.becomes("document.hidden")
	shown(b, browser.WindowStateNormal)
	b.hears(nil, "ada", "editor")

	b.use("/stable?refetchOnWindowFocus=false")
	b.hears("editor")
	s.role.Store("owner")
	shown(b, browser.WindowStateMinimized)
	b.becomes("document.hidden")
	shown(b, browser.WindowStateNormal)
	b.becomes("!document.hidden")
	b.gives("heard.length", "1")
	b.gives("client.updateSession().then(s => s.user.role)", `"owner"`)
	b.hears("editor", "owner")
}

// shown changes the state of the window.
func shown(b *tab, state browser.WindowState) {
	b.t.Helper()
	w, err := chromedp.Call(b.ctx, browser.GetWindowForTarget, browser.GetWindowForTargetParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := chromedp.Call(b.ctx, browser.SetWindowBounds, browser.SetWindowBoundsParams{WindowID: w.WindowID, Bounds: &browser.Bounds{WindowState: state}}); err != nil {
		b.t.Fatal(err)
	}
}

func walkOnline(b *tab, s *clientTest) {
	b.use("/stable")
	b.gives(asAda, `{"status":200,"ok":true,"url":"SITE/stable"}`)
	b.hears(nil, "ada")
	online(b, false)
	b.becomes("!navigator.onLine")
	s.role.Store("editor")
	online(b, true)
	b.hears(nil, "ada", "editor")
}

func online(b *tab, is bool) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: !is, DownloadThroughput: -1, UploadThroughput: -1}); err != nil {
		b.t.Fatal(err)
	}
}

func walkPolling(b *tab, s *clientTest) {
	b.use("/stable")
	b.gives(asAda, `{"status":200,"ok":true,"url":"SITE/stable"}`)
	b.use("/stable?refetchInterval=0.02")
	b.hears("ada")
	s.slow.Lock()
	b.gives("("+fiveTicks+").then(() => asked < 2)", "true") // an answer that takes longer than the interval is awaited
	s.role.Store("editor")
	s.slow.Unlock()
	b.hears("ada", "editor")
	b.gives("client.signOut({redirect: false}).then(() => client.getSession())", "null")
	b.hears("ada", "editor", nil)
	b.gives("("+fiveTicks+").then(() => asked)", "0")
}

// fiveTicks are as long as five intervals of walkPolling; asked counts what the
// page asks the server for meanwhile.
const fiveTicks = `new Promise((done) => {
  const { fetch } = window
  window.asked = 0
  window.fetch = (...args) => (asked++, fetch(...args))
  let n = 0
  const id = setInterval(() => ++n === 5 && done(((window.fetch = fetch), clearInterval(id))), 20)
})`

// walkBack leaves a page that the browser keeps, frozen, and comes back to it. A
// browser that is short of time or memory may drop the page: then it is left again.
func walkBack(b *tab, s *clientTest) {
	b.use("/stable")
	b.gives(asAda, `{"status":200,"ok":true,"url":"SITE/stable"}`)
	b.hears(nil, "ada")
	for n := range 20 {
		heard := ask[[]any](b, "window.kept = heard")
		b.open("/fixed")
		b.hears(heard[len(heard)-1])
		role := fmt.Sprint("editor ", n)
		s.role.Store(role)
		b.do("back", chromedp.Evaluate[chromedp.Void]("history.back()"))
		b.waitFor("/stable")
		b.becomes(fmt.Sprintf("window.heard?.at(-1) === %q", role))
		if ask[bool](b, "window.kept !== undefined") { // the same page, not a new one
			b.hears(append(heard, role)...)
			return
		}
	}
	b.t.Fatal("the browser never keeps the page")
}

// walkAuthJS speaks and listens as next-auth/react does.
func walkAuthJS(b *tab, s *clientTest) {
	b.use("/stable")
	b.gives(asAda, `{"status":200,"ok":true,"url":"SITE/stable"}`)
	b.hears(nil, "ada")
	other := b.another()
	other.open("/form")
	other.gives(`(window.theirs = new BroadcastChannel("next-auth"), theirs.onmessage = ({data}) => window.told = data.event, 0)`, "0")
	s.role.Store("editor")
	other.gives(`theirs.postMessage({event: "session", data: {trigger: "getSession"}})`, "undefined")
	b.hears(nil, "ada", "editor")
	b.gives("client.signOut({redirect: false}).then(client.getSession)", "null")
	other.becomes(`window.told === "session"`)
}

func walkFailure(b *tab, _ *clientTest) {
	b.use("/stable")
	b.gives(asAda, `{"status":200,"ok":true,"url":"SITE/stable"}`)
	b.hears(nil, "ada")
	b.gives("client.configure({basePath: '/nowhere'})", "undefined")
	b.lock.Lock()
	b.opened[b.origin+"/nowhere/session"] = true // its failure is wanted
	b.lock.Unlock()
	b.gives("client.getSession()", `Error: session: status 404`)
	b.gives("(dispatchEvent(new Event('focus')), client.getSession())", `Error: session: status 404`)
	b.gives("client.configure({basePath: '/auth'})", "undefined")
	b.gives("client.updateSession('Countess').then(s => s.user.name)", `"Countess"`)
	b.hears(nil, "ada", "Countess")
}
