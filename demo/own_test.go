package main

import (
	"net"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/latchkeyhq/latchkey/internal/testclock"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

const (
	ownMail  = "reader@example.com"
	ownFirst = "several words that nobody guesses"
	ownNext  = "and other words for the next time"
)

// ownWalk is a visitor who has the mailbox open in another tab.
type ownWalk struct {
	*tab
	box   *tab
	clock *testclock.Clock
	app   *latchkeytest.CodeApp
	axe   string // empty: it is not installed
}

// newOwnWalk serves a demo that knows its URL, and whose clock the test moves.
func newOwnWalk(t *testing.T) *ownWalk {
	t.Helper()
	w := &ownWalk{clock: testclock.New(time.Now())}
	s := environment(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.url, s.now = originAt(l), w.clock.Now
	server := httptest.NewUnstartedServer(newTestSite(t, s))
	_ = server.Listener.Close()
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
	w.tab = openTab(t, startChromium(t), s.url)
	w.box = w.another()
	w.axe, _ = readAxe()
	return w
}

// mail returns the text of the newest mail, as soon as it has a subject.
func (w *ownWalk) mail(subject string) string {
	w.t.Helper()
	for range 500 {
		w.box.open("/mailbox")
		if text := ask[string](w.box, `document.querySelector(".mails li")?.textContent ?? ""`); strings.Contains(text, subject) {
			return text
		}
	}
	w.t.Fatalf("no mail %q", subject)
	return ""
}

// link returns the path of the link in the newest mail.
func (w *ownWalk) link(subject string) string {
	w.t.Helper()
	found := regexp.MustCompile(regexp.QuoteMeta(w.origin) + `(/auth/\S+)`).FindStringSubmatch(w.mail(subject))
	if found == nil {
		w.t.Fatal("the mail has no link")
	}
	return found[1]
}

const (
	newPassword = `input[autocomplete="new-password"]`
	codeField   = `input[name="code"]`
	ownForm     = `form:has(input[type="email"]):has(input[type="password"])`
	submit      = `main form button.primary`
)

// enters signs in with a password.
func (w *ownWalk) enters(password string) {
	w.t.Helper()
	w.open("/auth/signin?callbackUrl=/members")
	w.becomes("document.readyState === 'complete'")
	if field := ownForm + ` input[type="email"]`; ask[string](w.tab, element(field)+".value") == "" { // a mail was sent there before
		w.write(field, ownMail)
	}
	w.write(ownForm+` input[type="password"]`, password)
	w.click(ownForm + " button")
}

func (w *ownWalk) leaves() {
	w.t.Helper()
	w.clock.Advance(time.Minute) // so that it comes after what ended the sessions before it
	w.open("/auth/signout")
	w.click("form button")
	w.becomes("location.pathname !== '/auth/signout'")
}

// proves types the code that the app shows in a minute.
func (w *ownWalk) proves() {
	w.t.Helper()
	w.clock.Advance(time.Minute)
	w.write(codeField, w.app.Code(w.clock.Now()))
}

// fitsHere fails if the page needs scrolling sideways in a window of 320 pixels, or axe
// finds fault with it.
func (w *ownWalk) fitsHere() {
	w.t.Helper()
	if w.axe != "" {
		w.isAccessible(w.axe)
	}
	w.do("narrow", chromedp.EmulateViewport(320, 640))
	w.isNarrow()
	w.do("wide", chromedp.EmulateViewport(1280, 800))
}

// enrolApp adds an authenticator app on the account page, and has look see each page on
// the way.
func enrolApp(b *tab, now func() time.Time, look func()) *latchkeytest.CodeApp {
	b.t.Helper()
	b.open("/auth/account")
	b.click(`form[action$="/auth/account?do=totp"] button`)
	b.waitFor("/auth/account?do=totp")
	look()
	app, err := latchkeytest.NewCodeApp(ask[string](b, `document.querySelector('a[href^="otpauth:"]').getAttribute("href")`))
	if err != nil {
		b.t.Fatal(err)
	}
	b.write(codeField, app.Code(now()))
	b.click(submit)
	b.waitFor("/auth/factor?do=codes")
	look()
	b.click(submit)
	b.waitFor("/auth/account")
	return app
}

// signsUp fills in the form of a sign-up that is open, and types the code of the mail.
func (w *ownWalk) signsUp() {
	w.t.Helper()
	w.waitFor("/auth/password?do=signup")
	w.fitsHere()
	w.write(`input[type="email"]`, ownMail)
	w.write(newPassword, ownFirst)
	w.click(submit)
	w.waitFor("/auth/verify-request")
	w.says("Check your email", "mailbox of the site")
	w.fitsHere()
	w.write(codeField, regexp.MustCompile(`\d{4} \d{4}`).FindString(w.mail("Confirm your email address")))
	w.click(submit)
}

// TestOfferedPasskey signs up with a password, in a browser whose password manager makes
// passkeys without a question. The page that offers one has it made, and goes on.
func TestOfferedPasskey(t *testing.T) {
	w := newOwnWalk(t)
	k := newKeyholder(w.tab)
	k.before("(" + manager + ")()")
	k.before(noAutofill)
	w.open("/auth/password?do=signup")
	w.signsUp()
	w.becomes("!location.pathname.startsWith('/auth/')")
	k.gives("window.mediations", "[]") // of this page
	if held := k.passkeys(); len(held) != 1 {
		t.Fatalf("%d passkeys, want 1", len(held))
	}
	w.leaves()
	w.open("/auth/signin?callbackUrl=/members")
	w.click(passkeyButton)
	w.waitFor("/members")
}

// TestOwnPasswords walks from a sign-up by a password to an invitation, in one browser.
func TestOwnPasswords(t *testing.T) {
	w := newOwnWalk(t)
	w.open("/")
	w.click(`a[href="/auth/password?do=signup"]`)
	w.signsUp()
	w.waitFor("/auth/password?do=offer")
	w.says("Make signing in easier")
	w.fitsHere()
	w.click(`form[data-latchkey-passkey-upgrade] a.button`)
	w.becomes("!location.pathname.startsWith('/auth/')")

	t.Run("a second step", func(*testing.T) {
		w.app = enrolApp(w.tab, w.clock.Now, w.fitsHere)
		w.mail("A second factor was added")
	})
	t.Run("a browser that is remembered", func(*testing.T) {
		w.leaves()
		w.enters(ownFirst)
		w.waitFor("/auth/factor")
		w.click(`input[name="remember"]`)
		w.proves()
		w.click(submit)
		w.waitFor("/members")
		w.leaves()
		w.enters(ownFirst)
		w.waitFor("/members")
	})
	t.Run("a page that asks again", func(*testing.T) {
		w.open("/safe")
		w.waitFor("/safe")
		w.clock.Advance(2 * time.Minute)
		w.open("/safe")
		w.waitFor("/auth/reauth?for=recent")
		w.fitsHere()
		w.proves()
		w.click(submit)
		w.waitFor("/safe")
		w.says("You proved who you are")
	})
	t.Run("an invitation", func(*testing.T) {
		w.open("/members")
		w.write("#invited", "friend@example.com")
		w.click(".invite button")
		w.waitFor("/mailbox")
		link := w.link("You are invited")
		w.leaves()
		w.open(link)
		w.says("You are invited", "friend@example.com")
		w.fitsHere()
		w.click(submit)
		w.waitFor("/members")
	})
	t.Run("a password that was forgotten", func(*testing.T) {
		w.leaves()
		w.open("/auth/password?do=forgot")
		w.write(`input[type="email"]`, ownMail)
		w.click(submit)
		w.waitFor("/auth/verify-request")
		w.says("mailbox of the site")
		w.open(w.link("Choose a new password"))
		w.fitsHere()
		w.write(newPassword, ownNext)
		w.proves()
		w.click(submit)
		w.waitFor("/auth/signin")
		w.says("Your password has been saved")
	})
	t.Run("in the dark", func(*testing.T) {
		media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}
		if _, err := chromedp.Call(w.ctx, emulation.SetEmulatedMedia, media); err != nil {
			t.Fatal(err)
		}
		w.enters(ownNext)
		w.waitFor("/auth/factor") // the reset has ended what was remembered
		w.fitsHere()
	})
}
