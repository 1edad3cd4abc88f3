package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// plainWalk is a user without scripts and without a mouse.
type plainWalk struct{ *ownWalk }

// fill goes to a field by the Tab key, and types.
func (w plainWalk) fill(selector, text string) {
	w.t.Helper()
	w.tabTo(selector)
	w.press(text)
}

// enter goes to something by the Tab key, and presses Enter there. It waits for the page
// that follows.
func (w plainWalk) enter(selector, lands string) {
	w.t.Helper()
	w.tabTo(selector)
	w.press(kb.Enter)
	w.waitFor(lands)
}

// forms alone do the work, by the keyboard alone.
func TestWithoutScriptsAndMouse(t *testing.T) {
	w := plainWalk{newOwnWalk(t)}
	w.do("start")
	if _, err := chromedp.Call(w.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	for _, walk := range []struct {
		name string
		walk func(plainWalk)
	}{
		{"a mailed link", plainWalk.byMail},
		{"a sign-up with a password", plainWalk.signsUpPlainly},
		{"an authenticator app", plainWalk.addsApp},
		{"a second step", plainWalk.provesPlainly},
		{"an export", plainWalk.exports},
		{"a deletion", plainWalk.deletes},
		{"a suspension", plainWalk.suspends},
	} {
		if !t.Run("R-793 "+walk.name, func(*testing.T) { walk.walk(w) }) {
			return
		}
	}
}

func (w plainWalk) byMail() {
	w.open("/auth/signin?callbackUrl=/members")
	w.fill(emailForm+` input[name="email"]`, "grace@example.com")
	w.enter(`button[formaction$="/signin/email"]`, "/auth/verify-request")
	w.open(w.link("Sign in"))
	w.waitFor("/members")
	w.says("grace@example.com")
	w.leavesPlainly()
}

func (w plainWalk) leavesPlainly() {
	w.t.Helper()
	w.clock.Advance(time.Minute)
	w.open("/auth/signout")
	w.tabTo("form button")
	w.press(" ")
	w.becomes("document.readyState === 'complete' && location.pathname !== '/auth/signout'")
}

func (w plainWalk) signsUpPlainly() {
	w.open("/auth/password?do=signup")
	w.fill(`input[type="email"]`, ownMail)
	w.fill(newPassword, ownFirst)
	w.enter(submit, "/auth/verify-request")
	w.fill(codeField, regexp.MustCompile(`\d{4} \d{4}`).FindString(w.mail("Confirm your email address")))
	w.enter(submit, "/auth/password?do=offer")
	w.tabTo(`form[data-latchkey-passkey-upgrade] a.button`)
	w.press(kb.Enter)
	w.becomes("document.readyState === 'complete' && !location.pathname.startsWith('/auth/')")
}

func (w plainWalk) addsApp() {
	w.open("/auth/account")
	w.enter(`form[action$="/auth/account?do=totp"] button`, "/auth/account?do=totp")
	app, err := latchkeytest.NewCodeApp(ask[string](w.tab, `document.querySelector('a[href^="otpauth:"]').getAttribute("href")`))
	if err != nil {
		w.t.Fatal(err)
	}
	w.app = app
	w.fill(codeField, w.app.Code(w.clock.Now()))
	w.enter(submit, "/auth/factor?do=codes")
	w.enter(submit, "/auth/account")
	w.leavesPlainly()
}

func (w plainWalk) provesPlainly() {
	w.open("/auth/signin?callbackUrl=/members")
	w.fill(ownForm+` input[type="email"]`, ownMail)
	w.fill(ownForm+` input[type="password"]`, ownFirst)
	w.press(kb.Enter)
	w.waitFor("/auth/factor")
	w.clock.Advance(time.Minute)
	w.fill(codeField, w.app.Code(w.clock.Now()))
	w.press(kb.Enter)
	w.waitFor("/members")
}

// exports looks for the export among the activities: the file itself goes to a folder.
func (w plainWalk) exports() {
	w.open("/auth/account")
	w.enter(`a[href*="do=export"]`, "/auth/account?do=export")
	w.tabTo("main form button")
	w.press(kb.Enter)
	for range 50 {
		w.box.open("/auth/account?do=activity")
		if strings.Contains(w.box.text(), "Data exported") {
			return
		}
	}
	w.t.Errorf("no export: %s", w.box.text())
}

func (w plainWalk) deletes() {
	w.open("/auth/account")
	w.enter(`a[href*="do=delete"]`, "/auth/account?do=delete")
	w.tabTo(`input[name="confirm"]`)
	w.press(" ")
	w.tabTo("form button")
	w.press(kb.Enter)
	w.becomes("document.readyState === 'complete' && document.body.innerText.includes('Your account has been deleted')")
}

func (w plainWalk) suspends() {
	w.open("/auth/signin?callbackUrl=/admin/users")
	w.fill(usernameBox, aliceName)
	w.fill(passwordBox, alicePassword)
	w.enter(passwordDone, "/admin/users")
	w.fill(`input[name="search"]`, "crowd-7@example.com")
	w.press(kb.Enter)
	w.waitFor("/admin/users?s=")
	w.enter(`a[href$="/admin/users/crowd-7"]`, "/admin/users/crowd-7")
	w.tabTo(`details:has(form[action$="/suspend"]) summary`)
	w.press(kb.Enter)
	w.fill(`form[action$="/suspend"] input[name="reason"]`, "asked for it")
	w.press(kb.Enter)
	w.waitFor("/admin/users/crowd-7?done=suspended")
	w.says("asked for it")
	w.enter(`form[action$="/restore"] button`, "/admin/users/crowd-7?done=restored")
}
