package interop

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// TestFrontEnds is one visitor's day at the JavaScript apps of examples, each as its
// users start it, in two tabs of Chromium. Whatever happens in one is seen in both.
func TestFrontEnds(t *testing.T) {
	chromium := startChromium(t)
	for _, name := range []string{"react", "sveltekit"} {
		t.Run(name, func(t *testing.T) {
			iss := latchkeytest.NewIssuer(t)
			iss.SignInAs(latchkeytest.Person{Subject: "grace", Name: "Grace", Email: "grace@example.com"})
			first := openWindow(t, chromium, startApp(t, name, iss))
			ok(t, chromedp.Do(first.ctx, chromedp.Navigate(first.url)))
			second := first.another()
			shown := func(who string) {
				t.Helper()
				first.shows("#who", who)
				second.shows("#who", who)
			}
			shown("Nobody is signed in.")
			first.submit("#in", `{name: "ada", password: "byron"}`)
			first.shows("[role=alert]", "That name and password do not go together.")
			shown("Nobody is signed in.")

			first.submit("#in", `{name: "ada", password: "lovelace"}`)
			shown("Hello, Ada")
			second.shows("#notes", "The notes of user 1") // the API knows the session
			second.submit("#rename", `{name: "Countess"}`)
			shown("Hello, Countess")
			ok(t, chromedp.Do(first.ctx, chromedp.Navigate(first.url)))
			shown("Hello, Countess") // the server has kept it
			first.click("#out")
			shown("Nobody is signed in.")

			second.click("#in-acme") // to the provider, and back
			shown("Hello, Grace")
			second.click("#out")
			shown("Nobody is signed in.")
			if len(iss.Requests(latchkeytest.PathAuthorize)) != 1 {
				t.Error("the provider was not asked once")
			}
		})
	}
}

// TestFrontEndsInDevelopment: npm run dev in front of the Go program, as the READMEs
// of the apps say. A visitor who signs in stays at the development server.
func TestFrontEndsInDevelopment(t *testing.T) {
	chromium := startChromium(t)
	for _, name := range []string{"react", "sveltekit"} {
		t.Run(name, func(t *testing.T) {
			iss := latchkeytest.NewIssuer(t)
			iss.SignInAs(latchkeytest.Person{Subject: "grace", Name: "Grace", Email: "grace@example.com"})
			program, site := "http://localhost:"+freePort(t), "http://localhost:"+freePort(t)
			startApp(t, name, iss, "-port", strings.TrimPrefix(program, "http://localhost:"), "-url", site)
			startVite(t, name, program, site)
			w := openWindow(t, chromium, site)
			ok(t, chromedp.Do(w.ctx, chromedp.Navigate(site)))
			w.shows("#who", "Nobody is signed in.")
			w.submit("#in", `{name: "ada", password: "lovelace"}`)
			w.shows("#who", "Hello, Ada")
			w.shows("#notes", "The notes of user 1")
			w.click("#out")
			w.shows("#who", "Nobody is signed in.")
			w.click("#in-acme")
			w.shows("#who", "Hello, Grace")
			w.becomes(fmt.Sprintf("location.origin === %s", asJSON(t, site)))
		})
	}
}

// inDevelopment is npm run dev on ports of our own.
const inDevelopment = `
import { createServer } from "vite"
const [program, port] = process.argv.slice(1)
const proxy = { "/api": program, "/auth": program, "/signin": program }
const server = await createServer({ server: { port: Number(port), strictPort: true, proxy } })
await server.listen()
console.log("ready")
`

func startVite(t *testing.T, name, program, site string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	cmd := exec.CommandContext(ctx, "node", "--input-type=module", "-e", inDevelopment, program, strings.TrimPrefix(site, "http://localhost:"))
	cmd.Dir = filepath.Join(examples, name)
	startUntil(t, cmd, cancel, "ready")
}

// freePort is one that nobody listened at a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	ok(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	ok(t, err)
	return port
}

// startApp builds the front end of an example and starts the program behind it,
// which knows iss as acme.
func startApp(t *testing.T, name string, iss *latchkeytest.Issuer, args ...string) string {
	t.Helper()
	installed(t, filepath.Join(examples, name))
	if out, err := exec.CommandContext(t.Context(), filepath.Join("..", "..", "scripts", "front"), "examples/"+name).CombinedOutput(); err != nil {
		t.Fatalf("scripts/front: %v\n%s", err, out)
	}
	p := iss.Provider()
	return startProgram(t, name, args, "AUTH_ACME_ISSUER="+p.Issuer, "AUTH_ACME_ID="+p.ClientID, "AUTH_ACME_SECRET="+p.ClientSecret)
}

var examples = filepath.Join("..", "..", "examples")

// startProgram starts a program of examples, on a free port unless args say another,
// as its users do, and returns its URL, which it prints first.
func startProgram(t *testing.T, name string, args []string, environment ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), name)
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../examples/"+name).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	cmd := exec.CommandContext(ctx, program, append([]string{"-port", "0"}, args...)...)
	cmd.Env = append(os.Environ(), environment...)
	cmd.Dir = filepath.Join(examples, name)
	return startUntil(t, cmd, cancel, "http")
}

// startUntil starts a program, which cancel ends, and returns the first line it
// prints that begins with start.
func startUntil(t *testing.T, cmd *exec.Cmd, cancel func(), start string) string {
	t.Helper()
	cmd.SysProcAttr, cmd.Stderr = dieWithParent(), t.Output()
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if line := lines.Text(); strings.HasPrefix(line, start) {
			return line
		}
	}
	t.Fatal("the program ended")
	return ""
}

// another is a second tab with the same cookies, at the same page.
func (w *window) another() *window {
	w.t.Helper()
	ctx, end := chromedp.NewContext(w.ctx)
	w.t.Cleanup(end)
	ok(w.t, chromedp.Do(ctx, chromedp.Navigate(w.url)))
	return &window{w.t, ctx, w.url}
}

// shows waits until an element of the page says text.
func (w *window) shows(selector, text string) {
	w.t.Helper()
	w.becomes(fmt.Sprintf("document.querySelector(%s)?.textContent === %s", asJSON(w.t, selector), asJSON(w.t, text)))
}

// submit fills in a form and sends it, as soon as it is there.
func (w *window) submit(form, fields string) {
	w.t.Helper()
	w.becomes(fmt.Sprintf(`(form => form && (Object.entries(%s).forEach(([name, value]) => form.elements[name].value = value), form.requestSubmit(), true))(document.querySelector(%s)) === true`, fields, asJSON(w.t, form)))
}

// click presses a button, as soon as it is there.
func (w *window) click(button string) {
	w.t.Helper()
	w.becomes(fmt.Sprintf("(button => button && (button.click(), true))(document.querySelector(%s)) === true", asJSON(w.t, button)))
}
