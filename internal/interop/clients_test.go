package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// clientRows are calls of a client in a page of the site, in the order of one
// browser's day. SITE stands for the URL of the application, and "*" for any
// text. @auth/sveltekit/client never asks for a CSRF token.
var clientRows = []struct {
	name, call string
	result     string // empty: the window goes to location
	location   string
	who        string // is signed in afterwards; empty: nobody
}{
	{
		"a wrong password", `signIn("credentials", {redirect: false, username: "ada", password: "wrong"})`,
		`{"error":"CredentialsSignin","code":"credentials","status":200,"ok":true,"url":null}`, "", "",
	},
	{"a wrong password, with the window", `signIn("credentials", {username: "ada", password: "wrong"})`, "", "SITE/auth/signin?error=CredentialsSignin&code=credentials", ""},
	{
		"the right password", `signIn("credentials", {redirect: false, username: "ada", password: "lovelace", redirectTo: "SITE/inbox?a=b#c"})`,
		`{"status":200,"ok":true,"url":"SITE/inbox?a=b#c"}`, "", "ada",
	},
	{"signing out", `signOut({redirect: false, redirectTo: "SITE/bye"})`, `{"url":"SITE/bye"}`, "", ""},
	{"the right password, with the window", `signIn("credentials", {username: "Žofia", password: "lovelace", callbackUrl: "SITE/inbox"})`, "", "SITE/inbox", "Žofia"},
	{"signing out, with the window", `signOut({callbackUrl: "SITE/bye"})`, "", "SITE/bye", ""},
	{"a provider", `signIn("issuer", {redirect: false})`, `{"status":200,"ok":true,"url":"*"}`, "", ""},
	{"a provider, with the window", `signIn("issuer", {redirectTo: "SITE/inbox"}, {login_hint: "grace"})`, "", "SITE/inbox", "Grace"},
	{"signing out to where one is", `signOut()`, "", "SITE/here", ""},
	{"a place on the page", `signIn("credentials", {username: "ada", password: "lovelace", redirectTo: "SITE/here#new"})`, "", "SITE/here#new", "ada"},
	{"to another site after signing out", `signOut({redirect: false, redirectTo: "https://other.example/"})`, `{"url":"ORIGIN"}`, "", ""},
	{
		"a magic link", `signIn("email", {redirect: false, email: "ada@example.com"})`,
		`{"status":200,"ok":true,"url":"SITE/auth/verify-request?provider=email&type=email"}`, "", "",
	},
}

// TestClients runs the calls of the client that SvelteKit sites have, as it is
// published, and those of ours in Chromium, for an application at the root and for
// one below a path.
func TestClients(t *testing.T) {
	installed(t, "authjs")
	chromium := startChromium(t)
	for _, base := range []string{"", "/app"} {
		for name, module := range map[string]string{"R-369 SvelteKit": base + "/client.js", "R-421 Latchkey": base + "/auth/client/latchkey.js"} {
			t.Run(name+" at "+base+"/", func(t *testing.T) { runClient(t, chromium, base, module) })
		}
	}
}

func runClient(t *testing.T, chromium context.Context, base, module string) {
	t.Helper()
	iss := latchkeytest.NewIssuer(t)
	iss.SignInAs(latchkeytest.Person{Subject: "grace", Name: "Grace", Email: "grace@example.com", EmailVerified: true})
	p, _ := atIssuer(iss)
	origin := serve(t, clientSite(ourTwin(t, latchkey.Config{Site: latchkey.Site{BasePath: base + "/auth"}, Providers: []latchkey.Provider{p}}), base, module))
	there := strings.NewReplacer("SITE", origin+base, "ORIGIN", origin)
	w := openWindow(t, chromium, origin+base)
	for _, row := range clientRows {
		t.Run(row.name, func(t *testing.T) {
			w.t = t
			w.open("/here")
			if row.result == "" {
				w.leave(there.Replace(row.call), there.Replace(row.location))
			} else {
				w.stay(there.Replace(row.call), there.Replace(row.result))
			}
			w.open("/here") // whose policy lets scripts ask
			w.signedIn("/auth", row.who)
		})
	}
	asked := iss.Requests(latchkeytest.PathAuthorize)
	if len(asked) != 1 || asked[0].Query.Get("login_hint") != "grace" {
		t.Errorf("the provider was asked %d times, or without what the client adds", len(asked))
	}
}

// clientSite is a site with the client of a module. SvelteKit's is as it is
// published; what SvelteKit itself would give it is where the application lives.
func clientSite(auth http.Handler, base, module string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(base+"/auth/", auth)
	mux.HandleFunc(base+"/client.js", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join("authjs", "node_modules", "@auth", "sveltekit", "dist", "client.js"))
	})
	mux.HandleFunc(base+"/paths.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprintf(w, "export const base = %q\n", base)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,">
<script type="importmap">{"imports":{"$app/paths":"%s/paths.js"}}</script>
<script type="module">window.client = await import("%s")</script>`, base, module)
	})
	return mux
}

// startChromium starts a browser without a window, which ends with the test. What it
// keeps is in no folder of the test's: processes of the browser may write there when
// the browser has ended.
func startChromium(t *testing.T) context.Context {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		missing(t, "chromium is not installed: run make setup")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.NoFirstRun, chromedp.Flag("disable-background-networking", true), chromedp.WSURLReadTimeout(patience))
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(end)
	ctx, closeBrowser := chromedp.NewContext(allocator)
	t.Cleanup(closeBrowser)
	ok(t, chromedp.Do(ctx))
	return ctx
}

// window is one of a browser, with cookies of its own, at an application.
type window struct {
	t   *testing.T
	ctx context.Context
	url string // of the application
}

func openWindow(t *testing.T, chromium context.Context, url string) *window {
	t.Helper()
	ctx, end := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	t.Cleanup(end)
	ctx, cancel := context.WithTimeout(ctx, patience)
	t.Cleanup(cancel)
	return &window{t, ctx, url}
}

// open goes to a page and waits for the client on it.
func (w *window) open(path string) {
	w.t.Helper()
	ok(w.t, chromedp.Do(w.ctx, chromedp.Navigate(w.url+path)))
	w.becomes("window.client !== undefined")
}

// stay compares what a call returns.
func (w *window) stay(call, want string) {
	w.t.Helper()
	raw, err := chromedp.Run(w.ctx, chromedp.Evaluate[[]byte]("client."+call, chromedp.EvalAwaitPromise))
	ok(w.t, err)
	var a, b any
	ok(w.t, json.Unmarshal(raw, &a))
	ok(w.t, json.Unmarshal([]byte(want), &b))
	if !matches(a, b) {
		w.t.Errorf("returned %s\nwant %s", raw, want)
	}
}

// leave waits until a call has sent the window where it should.
func (w *window) leave(call, want string) {
	w.t.Helper()
	ok(w.t, chromedp.Do(w.ctx, chromedp.Evaluate[chromedp.Void]("window.leaving = true; void client."+call)))
	w.becomes(fmt.Sprintf("window.leaving === undefined && document.readyState === 'complete' && location.href === %s", asJSON(w.t, want)))
}

func (w *window) signedIn(basePath, want string) {
	w.t.Helper()
	got, err := chromedp.Run(w.ctx, chromedp.Evaluate[string](
		fmt.Sprintf("fetch(%s).then(r => r.json()).then(s => s?.user.name ?? '')", asJSON(w.t, w.url+basePath+"/session")), chromedp.EvalAwaitPromise))
	ok(w.t, err)
	if got != want {
		w.t.Errorf("%q is signed in, not %q", got, want)
	}
}

// becomes waits for a condition, whichever pages come between.
func (w *window) becomes(condition string) {
	w.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience / 10); ; {
		yes, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool](condition))
		if yes && err == nil { // an error: the page was just being left
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			page, _ := chromedp.Run(w.ctx, chromedp.Evaluate[string]("location.href + '\\n' + document.body?.innerText"))
			w.t.Fatalf("never true: %s\nat %s, %v", condition, page, err)
		}
	}
}
