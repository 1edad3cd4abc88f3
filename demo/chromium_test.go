package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/latchkeyhq/latchkey/internal/race"
)

// patience is how long a page or a browser that starts may take, on a busy machine.
var patience = race.Patience(time.Minute)

// startChromium starts a browser without a window, which ends with the test. What it
// keeps is in no folder of the test's: processes of the browser may write there when
// the browser has ended. The flags are switched on besides those of all tests.
func startChromium(t *testing.T, flags ...string) context.Context {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("LATCHKEY_REQUIRE_SERVERS") == "1" {
			t.Fatal("chromium is not installed: run make setup")
		}
		t.Skip("chromium is not installed: run make setup")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.NoFirstRun, chromedp.WSURLReadTimeout(patience))
	// What is clicked and typed counts before a page has been painted, too: a test is faster than eyes.
	for _, name := range append(flags, "allow-pre-commit-input", "disable-quic", "disable-background-networking", "disable-component-update", "disable-sync") {
		options = append(options, chromedp.Flag(name, true))
	}
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(end)
	ctx, closeBrowser := chromedp.NewContext(allocator)
	t.Cleanup(closeBrowser)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// tab is a browser window with cookies of its own. It fails its test when the
// console says that something is wrong, such as a breach of a page's policy.
type tab struct {
	t      *testing.T
	ctx    context.Context
	origin string
	// clicked is the element whose click no wait has followed yet. A page that it
	// leads to would overtake one that the test opens.
	clicked string

	lock       sync.Mutex
	opened     map[string]bool
	complaints []string
}

func openTab(t *testing.T, browser context.Context, origin string) *tab {
	t.Helper()
	ctx, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(end)
	return watch(t, ctx, origin)
}

// another is a second tab with the same cookies.
func (b *tab) another() *tab {
	b.t.Helper()
	b.do("start") // there is no browser to open it in before the first has one
	ctx, end := chromedp.NewContext(b.ctx)
	b.t.Cleanup(end)
	return watch(b.t, ctx, b.origin)
}

// watch listens to what the console of a tab says.
func watch(t *testing.T, ctx context.Context, origin string) *tab {
	t.Helper()
	b := &tab{t: t, ctx: ctx, origin: origin, opened: map[string]bool{}}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, complaint := range b.heard() {
			t.Error("console: " + complaint)
		}
	})
	return b
}

func (b *tab) heard() []string {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.complaints
}

// listen collects warnings and worse.
func (b *tab) listen(event any) {
	b.lock.Lock()
	defer b.lock.Unlock()
	said := ""
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level != log.EntryLevelError && e.Entry.Level != log.EntryLevelWarning || b.isExpected(e.Entry) {
			return
		}
		said = e.Entry.Text + " " + e.Entry.URL
	case *runtime.EventConsoleAPICalled:
		said = string(e.Type)
	case *runtime.EventExceptionThrown:
		said = e.ExceptionDetails.Text
	case *page.EventBackForwardCacheNotUsed:
		for _, why := range e.NotRestoredExplanations {
			if why.Type != page.BackForwardCacheNotRestoredReasonTypeCircumstantial { // the page's fault, not the browser's
				said = fmt.Sprintf("a page is not kept: %s", why.Reason)
			}
		}
	}
	if said != "" {
		b.complaints = append(b.complaints, said)
	}
}

// isExpected is true for the status of a page that was opened to see it fail,
// and for what other sites lack.
func (b *tab) isExpected(e *log.Entry) bool {
	return e.Source == log.EntrySourceNetwork && (b.opened[e.URL] || !strings.HasPrefix(e.URL, b.origin+"/"))
}

func (b *tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

// open goes to a path of the site. After a click it fails until the test has waited for
// what the click does: of two pages that are asked for at once, the browser drops one.
func (b *tab) open(path string) {
	b.t.Helper()
	if b.clicked != "" {
		b.t.Fatalf("open %s: wait for what the click on %s does first", path, b.clicked)
	}
	b.lock.Lock()
	b.opened[b.origin+path] = true
	b.lock.Unlock()
	b.do("open "+path, chromedp.Navigate(b.origin+path))
}

// openAmid does what open does on a page that may send a form at any time: while the
// browser drops the visit for that, it goes there again.
func (b *tab) openAmid(path string) {
	b.t.Helper()
	b.lock.Lock()
	b.opened[b.origin+path] = true
	b.lock.Unlock()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		err := chromedp.Do(ctx, chromedp.Navigate(b.origin+path))
		switch {
		case err == nil:
			return
		case !strings.Contains(err.Error(), "net::ERR_ABORTED"):
			b.t.Fatalf("open %s: %v", path, err)
		}
	}
}

// opens is the tab that something opens, at a path of the site.
func (b *tab) opens(path string, something func()) *tab {
	b.t.Helper()
	found := chromedp.WaitNewTarget(b.ctx, func(i *target.Info) bool { return strings.HasPrefix(i.URL, b.origin+path) })
	something()
	select {
	case id := <-found:
		ctx, end := chromedp.NewContext(b.ctx, chromedp.WithTargetID(id))
		b.t.Cleanup(end)
		return &tab{t: b.t, ctx: ctx, origin: b.origin, opened: b.opened}
	case <-time.After(patience):
		b.t.Fatalf("no tab opens at %s", path)
		return nil
	}
}

// click presses the mouse where an element is, as soon as it is to be seen and will
// stay there.
func (b *tab) click(selector string) {
	b.t.Helper()
	at := eventually(b, "(e => "+seen+" ? (e.scrollIntoViewIfNeeded(), (({x, y, width, height}) => [x + width / 2, y + height / 2])(e.getClientRects()[0])) : [])("+element(selector)+")",
		func(at []float64) bool { return len(at) == 2 })
	b.do("click "+selector, chromedp.MouseClickXY(at[0], at[1]))
	b.clicked = selector
}

// write types into an element, as soon as it is to be seen.
func (b *tab) write(selector, text string) {
	b.t.Helper()
	b.becomes("(e => " + seen + " && (e.focus(), e.matches(':focus')))(" + element(selector) + ") === true")
	b.press(text)
}

// seen is true of an element e whose page is all there.
const seen = "document.readyState === 'complete' && e?.checkVisibility()"

// element is the expression for one. Nothing of it is kept: when a page has just come,
// the browser numbers its nodes anew.
func element(selector string) string {
	quoted, _ := json.Marshal(selector)
	return "document.querySelector(" + string(quoted) + ")"
}

func (b *tab) press(keys string) {
	b.t.Helper()
	b.do("press", chromedp.KeyEvent(keys))
}

// ask evaluates an expression in a page that stays.
func ask[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	answer, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return answer
}

// waitFor waits until a page of the site is there, whichever pages lead to it.
func (b *tab) waitFor(path string) {
	b.t.Helper()
	want, _ := json.Marshal(b.origin + path)
	b.becomes("document.readyState === 'complete' && location.href.startsWith(" + string(want) + ")")
}

func (b *tab) becomes(condition string) {
	b.t.Helper()
	eventually(b, condition, func(yes bool) bool { return yes })
}

// eventually evaluates an expression until it is what it should be, whichever pages
// come between.
func eventually[T any](b *tab, expression string, is func(T) bool) T {
	b.t.Helper()
	b.clicked = ""
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); ; {
		value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
		if err == nil && is(value) { // an error: the page was just being left
			return value
		}
		select {
		case <-tick.C:
		case <-deadline:
			b.t.Fatalf("never true: %s\nat %s: %s", expression, ask[string](b, "location.href"), b.text())
		}
	}
}

func (b *tab) text() string { return ask[string](b, "document.body.innerText") }

func (b *tab) says(texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		if said := b.text(); !strings.Contains(said, text) {
			b.t.Errorf("%s does not say %q:\n%s", ask[string](b, "location.pathname"), text, said)
		}
	}
}
