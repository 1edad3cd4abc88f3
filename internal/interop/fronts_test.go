package interop

import (
	"bufio"
	"context"
	"fmt"
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

// TestFrontEnds is one visitor's day at the JavaScript apps of examples, each as its
// users start it, in two tabs of Chromium. Whatever happens in one is seen in both.
func TestFrontEnds(t *testing.T) {
	chromium := startChromium(t)
	// again: next-auth/react asks once more in every tab when one has just been opened.
	for name, again := range map[string]int{"react": 1, "sveltekit": 0} {
		t.Run(name, func(t *testing.T) {
			iss := latchkeytest.NewIssuer(t)
			iss.SignInAs(latchkeytest.Person{Subject: "grace", Name: "Grace", Email: "grace@example.com"})
			first := openWindow(t, chromium, startApp(t, name, iss))
			ok(t, chromedp.Do(first.ctx, chromedp.Navigate(first.url)))
			second := first.another()
			shown := func(who string) {
				t.Helper()
				for _, w := range []*window{first, second} {
					w.shows("#who", who)
					if strings.HasPrefix(who, "Hello") {
						w.becomes("document.querySelector('#notes')?.textContent.startsWith('The notes of user ')") // the API knows the session
					}
				}
			}
			shown("Nobody is signed in.")
			first.submit("#in", `{name: "ada", password: "byron"}`)
			first.shows("[role=alert]", "That name and password do not go together.")
			shown("Nobody is signed in.")

			first.submit("#in", `{name: "ada", password: "lovelace"}`)
			shown("Hello, Ada")
			second.submit("#rename", `{name: "Countess"}`)
			shown("Hello, Countess")
			asked := second.asked()
			ok(t, chromedp.Do(first.ctx, chromedp.Navigate(first.url)))
			shown("Hello, Countess") // the server has kept it
			first.rests(1 + again)
			second.rests(asked + again)
			first.click("#out")
			shown("Nobody is signed in.")

			second.click("#in-acme") // to the provider, and back
			shown("Hello, Grace")
			second.rests(1 + again)
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
			ports := realservers.FreePorts(t, 2)
			program, site := strconv.Itoa(ports[0]), strconv.Itoa(ports[1])
			w := openWindow(t, chromium, "http://localhost:"+site)
			startApp(t, name, iss, "-port", program, "-url", w.url)
			startVite(t, name, "http://localhost:"+program, site)
			ok(t, chromedp.Do(w.ctx, chromedp.Navigate(w.url)))
			w.shows("#who", "Nobody is signed in.")
			w.submit("#in", `{name: "ada", password: "lovelace"}`)
			w.shows("#who", "Hello, Ada")
			w.shows("#notes", "The notes of user 1")
			w.click("#out")
			w.shows("#who", "Nobody is signed in.")
			w.click("#in-acme")
			w.shows("#who", "Hello, Grace")
			w.becomes(fmt.Sprintf("location.origin === %s", asJSON(t, w.url)))
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

func startVite(t *testing.T, name, program, port string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	cmd := exec.CommandContext(ctx, "node", "--input-type=module", "-e", inDevelopment, program, port)
	cmd.Dir = filepath.Join(examples, name)
	startUntil(t, cmd, cancel, "ready")
}

// asked is how often the page has asked who is signed in.
const asked = "performance.getEntriesByType('resource').filter(e => e.name.endsWith('/auth/session')).length"

func (w *window) asked() int {
	w.t.Helper()
	n, err := chromedp.Run(w.ctx, chromedp.Evaluate[int](asked))
	ok(w.t, err)
	return n
}

// rests waits until the page has had so many answers. One that is under way while
// somebody signs out brings back a session that is in a cookie and nowhere else.
func (w *window) rests(answers int) {
	w.t.Helper()
	w.becomes(fmt.Sprintf("%s >= %d", asked, answers))
}

// startApp builds the front end of an example and starts the program behind it,
// which knows iss as acme.
func startApp(t *testing.T, name string, iss *latchkeytest.Issuer, args ...string) string {
	t.Helper()
	installed(t, filepath.Join(examples, name))
	if out, err := exec.CommandContext(t.Context(), filepath.Join("..", "..", "scripts", "front"), "examples/"+name).CombinedOutput(); err != nil {
		t.Fatalf("scripts/front: %v\n%s", err, out)
	}
	return startAtIssuer(t, name, iss, args...)
}

func startAtIssuer(t *testing.T, name string, iss *latchkeytest.Issuer, args ...string) string {
	t.Helper()
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
