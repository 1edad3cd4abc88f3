package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// readAxe reads the checker, as npm brings it.
func readAxe() (string, error) {
	source, err := os.ReadFile(filepath.Join("axe", "node_modules", "axe-core", "axe.min.js"))
	return string(source), err
}

// axe returns the checker, and skips the test where there is none.
func axe(t *testing.T) string {
	t.Helper()
	source, err := readAxe()
	if err != nil {
		if os.Getenv("LATCHKEY_REQUIRE_SERVERS") == "1" {
			t.Fatal("axe-core is not installed: run make setup")
		}
		t.Skip("axe-core is not installed: run make setup")
	}
	return source
}

// TestAccessible has axe judge pages by the rules for WCAG 2.2 level AA, in both
// colour schemes.
func TestAccessible(t *testing.T) {
	checker, browser := axe(t), startChromium(t)
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			b := openTab(t, browser, serve(t, newTestSite(t, environment(t))))
			b.do("start")
			media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
			if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{"/", "/components", "/components?error=CredentialsSignin", "/mailbox", "/auth/signin", "/auth/signin?error=CredentialsSignin", "/auth/password?do=signup", "/auth/password?do=forgot"} {
				b.open(path)
				b.isAccessible(checker)
			}
			signInWithPassword(b)
			for _, path := range []string{"/safe", "/members", "/components", "/profile", "/auth/account", "/auth/account?do=profile", "/auth/account?do=activity", "/auth/account?do=export", "/desk", "/audit", "/health", "/admin/users", "/admin/users/new", "/admin/users/crowd-300", "/admin/users/crowd-1/delete", "/auth/signout"} {
				b.open(path)
				if path == "/components" {
					b.click(userMenu)
				}
				b.isAccessible(checker)
			}
			enrolApp(b, time.Now, func() { b.isAccessible(checker) })
			b.open("/auth/signout")
			b.click("form button")
			b.becomes("location.pathname !== '/auth/signout'")
			typeAlicesPassword(b, "/auth/factor")
			b.isAccessible(checker)
		})
	}
}

const judge = `void axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}).then(
  (found) => { window.judged = found.passes.length < 5 ? "axe has looked at next to nothing" : found.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html + " " + n.failureSummary).join("\n")).join("\n") },
  (error) => { window.judged = String(error) })`

func (b *tab) isAccessible(checker string) {
	b.t.Helper()
	b.do("bring axe", chromedp.Evaluate[chromedp.Void](checker+"\nvoid 0"))
	b.do("ask axe", chromedp.Evaluate[chromedp.Void](judge))
	b.becomes("window.judged !== undefined")
	if wrong := ask[string](b, "window.judged"); wrong != "" {
		b.t.Errorf("%s: %s", ask[string](b, "location.pathname + location.search"), wrong)
	}
}
