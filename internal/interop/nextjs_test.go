package interop

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// TestNextJS is R-731: the Next.js app of examples, built and started as its README
// says. Server components, the middleware and useSession know one session.
func TestNextJS(t *testing.T) {
	chromium := startChromium(t)
	iss := latchkeytest.NewIssuer(t)
	iss.SignInAs(latchkeytest.Person{Subject: "grace", Name: "Grace", Email: "grace@example.com"})
	site := startNext(t, iss)
	t.Run("R-731 a visitor's day", func(t *testing.T) { visitNext(t, openWindow(t, chromium, site)) })
	t.Run("R-731 without scripts", func(t *testing.T) { askNext(t, latchkeytest.NewClientAt(t, site)) })
}

// TestNextJSListings is R-731: the listings of the guide are those of the app.
func TestNextJSListings(t *testing.T) {
	page, err := os.ReadFile("../../docs/moving-from-authjs.md")
	ok(t, err)
	_, section, _ := strings.Cut(string(page), "## A Next.js app that stays\n")
	section, _, _ = strings.Cut(section, "\n## ")
	listings := strings.Split(section, "```")
	if len(listings) != 5 {
		t.Fatalf("the section has %d listings, want 2", len(listings)/2)
	}
	for i, name := range []string{"next.config.js", "session.js"} {
		file, err := os.ReadFile(filepath.Join(examples, "nextjs", name))
		ok(t, err)
		if listing := strings.TrimPrefix(listings[2*i+1], "js\n"); !strings.Contains(string(file), listing) {
			t.Errorf("%s has not what the guide shows of it:\n%s", name, listing)
		}
	}
}

func visitNext(t *testing.T, w *window) {
	w.t = t
	w.home("nobody", "Nobody is signed in.")
	w.submit("#in", `{name: "ada", password: "byron"}`)
	w.shows("[role=alert]", "That name and password do not go together.")
	w.submit("#in", `{name: "ada", password: "lovelace"}`)
	w.shows("#who", "Hello, Ada")
	w.shows("#server", "The server says Ada.") // without a page load
	w.submit("#rename", `{name: "Countess"}`)
	w.shows("#server", "The server says Countess.")
	w.home("Countess", "Hello, Countess")
	w.click("#out")
	w.shows("#who", "Nobody is signed in.")

	w.goTo("/account") // useSession({ required: true })
	w.arrives("/api/auth/signin?error=SessionRequired&callbackUrl=" + url.QueryEscape(w.url+"/account"))
	w.submit("form[action$='/callback/credentials']", `{name: "ada", password: "lovelace"}`)
	w.arrives("/account")
	w.shows("#account", "The account of Ada")
	w.home("Ada", "Hello, Ada")
	w.click("#out")
	w.shows("#who", "Nobody is signed in.")

	w.goTo("/team?of=2") // the middleware
	w.arrives("/api/auth/signin?callbackUrl=" + url.QueryEscape("/team?of=2"))
	w.submit("form[action$='/callback/credentials']", `{name: "ada", password: "lovelace"}`)
	w.arrives("/team?of=2")
	w.shows("#team", "The team of Ada")
	w.home("Ada", "Hello, Ada")
	w.click("#out")
	w.shows("#who", "Nobody is signed in.")

	w.home("nobody", "Nobody is signed in.")
	w.click("#in-acme") // to the provider, and back
	w.shows("#server", "The server says Grace.")
	w.shows("#who", "Hello, Grace")
}

// askNext looks at what the app's server answers: pages that know the session, and in
// the middleware's answer the renewed cookie.
func askNext(t *testing.T, b *latchkeytest.Client) {
	b.BasePath = "/api/auth"
	says := func(path, text string) {
		t.Helper()
		if p := b.Get(path); p.Status != http.StatusOK || !strings.Contains(string(p.Body), text) {
			t.Errorf("%s: %d, without %q", path, p.Status, text)
		}
	}
	says("/", "The server says nobody.")
	if p := b.Get("/team"); p.Status != http.StatusTemporaryRedirect {
		t.Errorf("the team of nobody: %d", p.Status)
	}
	b.SignInCredentials(map[string]string{"name": "ada", "password": "lovelace"})
	says("/", "The server says Ada.")
	before := b.Cookie("authjs.session-token").Value
	says("/team", "The team of Ada")
	if b.Cookie("authjs.session-token").Value == before {
		t.Error("the middleware passes no renewed cookie on")
	}
	b.SetCookie(&http.Cookie{Name: "authjs.session-token", Value: "no-token-of-ours", Path: "/"})
	if p := b.Get("/team"); p.Status != http.StatusTemporaryRedirect || b.Cookie("authjs.session-token") != nil {
		t.Errorf("the team of a forger: %d, and the cookie is %v", p.Status, b.Cookie("authjs.session-token"))
	}
}

// startNext builds and starts the app and the Go program behind it. A build keeps where
// the program is, so it is made anew.
func startNext(t *testing.T, iss *latchkeytest.Issuer) (site string) {
	t.Helper()
	folder := filepath.Join(examples, "nextjs")
	node := installed(t, folder)
	ports := realservers.FreePorts(t, 2)
	program, port := strconv.Itoa(ports[0]), strconv.Itoa(ports[1])
	site = "http://localhost:" + port
	startAtIssuer(t, "nextjs", iss, "-port", program, "-url", site)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	next := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, node, append([]string{filepath.Join("node_modules", "next", "dist", "bin", "next")}, args...)...)
		cmd.Dir, cmd.SysProcAttr = folder, dieWithParent()
		cmd.Env = append(os.Environ(), "AUTH_SERVER=http://localhost:"+program, "NEXT_TELEMETRY_DISABLED=1")
		return cmd
	}
	if out, err := next("build").CombinedOutput(); err != nil {
		t.Fatalf("next build: %v\n%s", err, out)
	}
	startUntil(t, next("start", "--hostname", "localhost", "--port", port), cancel, " ✓ Ready")
	return site
}

func (w *window) goTo(path string) {
	w.t.Helper()
	ok(w.t, chromedp.Do(w.ctx, chromedp.Navigate(w.url+path)))
}

// hydrated is true when React answers what happens on the page: before, the browser sends
// forms by itself.
const hydrated = `(() => {
  const keyed = (node, prefix) => node?.[Object.keys(node).find((key) => key.startsWith(prefix))]
  const root = keyed(document, "__reactContainer")
  return root?.stateNode.current.memoizedState.isDehydrated === false && !!keyed(document.querySelector("#in, #out"), "__reactProps")
})()`

// home goes to the first page, whose server component names user, and waits until its
// scripts run.
func (w *window) home(user, greeting string) {
	w.t.Helper()
	w.goTo("/")
	w.shows("#server", fmt.Sprintf("The server says %s.", user))
	w.shows("#who", greeting)
	w.becomes(hydrated)
}

// arrives waits for a page of the site.
func (w *window) arrives(path string) {
	w.t.Helper()
	w.becomes(fmt.Sprintf("document.readyState === 'complete' && location.href === %s", asJSON(w.t, w.url+path)))
}
