package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// TestInABrowser does what a user does, with mouse and keyboard.
func TestInABrowser(t *testing.T) {
	browser := startChromium(t)
	for _, walk := range []struct {
		name string
		walk func(*tab)
	}{
		{"identity provider", walkIdentityProvider},
		{"identity provider, cancelled", walkCancelled},
		{"R-301 two tabs, the older first", func(b *tab) { walkTwoTabs(b, 0) }},
		{"R-301 two tabs, the newer first", func(b *tab) { walkTwoTabs(b, 1) }},
		{"password", walkPassword},
		{"magic link", walkMagicLink}, // from the mail as it was sent
		{"passkey", walkPasskey},
		{"account page", walkAccount},
		{"only the keyboard", walkKeyboard},
		{"R-206 components", walkComponents},
		{"components without scripts", walkWithoutScript},
		{"a narrow window", walkNarrow},
	} {
		t.Run(walk.name, func(t *testing.T) {
			walk.walk(openTab(t, browser, serve(t, newTestSite(t, environment(t)))))
		})
	}
}

// The buttons and fields that users use.
const (
	signInLink   = `header a[href^="/auth/signin"]`
	userMenu     = `header summary`
	signOut      = `header form[action$="/auth/signout"] button`
	demoButton   = `form[action$="/signin/demo"] button`
	passwordForm = `form[action$="/callback/credentials"]`
	emailForm    = `form:is([action$="/signin/email"],:has([formaction$="/signin/email"]))`
	usernameBox  = passwordForm + ` input[name="username"]`
	passwordBox  = passwordForm + ` input[name="password"]`
	passwordDone = passwordForm + ` button`
)

func walkIdentityProvider(b *tab) {
	b.open("/members")
	b.waitFor("/auth/signin")
	b.click(demoButton)
	b.click(`button[data-subject="ada"]`)
	b.waitFor("/members")
	b.says("Welcome, Ada Lovelace")
	b.click(`nav a[href="/profile"]`)
	b.waitFor("/profile")
	b.says("ada@example.com", "Signed in until", `"name": "Ada Lovelace"`)
	b.click(userMenu)
	b.click(signOut)
	b.waitFor("/")
	b.becomes("document.body.innerText.includes('Try signing in')")
	b.open("/members")
	b.waitFor("/auth/signin")
}

func walkCancelled(b *tab) {
	b.open("/auth/signin")
	b.click(demoButton)
	b.click(`button[name="cancel"]`)
	b.waitFor("/auth/signin")
	b.becomes("document.querySelector('[role=alert]') !== null")
}

// walkTwoTabs begins in two tabs of one browser and completes both.
func walkTwoTabs(b *tab, first int) {
	tabs := []*tab{b, b.another()}
	lands := []string{"/members", "/profile"}
	for i, each := range tabs {
		each.open("/auth/signin?callbackUrl=" + lands[i])
		each.click(demoButton)
		each.becomes(`document.querySelector('button[data-subject="ada"]') !== null`)
	}
	for _, i := range []int{first, 1 - first} {
		tabs[i].click(`button[data-subject="ada"]`)
		tabs[i].waitFor(lands[i])
		tabs[i].says("Ada Lovelace")
	}
}

// walkPasskey signs up, gives the passkey a name, and signs in with it.
func walkPasskey(b *tab) {
	k := newKeyholder(b)
	k.before(noAutofill)
	k.open("/")
	k.says("Passkey")
	k.click(signInLink)
	k.waitFor("/auth/signin")
	k.write(passkeyEmail, "ada@example.com")
	k.click(passkeyButton)
	k.waitFor("/profile")
	k.says("ada@example.com")
	k.open("/auth/account")
	k.click("details summary")
	k.write(`details input[name="name"]`, "My laptop")
	k.click("details button")
	k.becomes("document.body.innerText.includes('has been renamed') && document.body.innerText.includes('My laptop')")
	k.open("/auth/signout")
	k.click("form button")
	k.becomes("location.pathname === '/auth/signin'") // the profile is for members
	k.click(passkeyButton)
	k.waitFor("/profile")
	k.says("ada@example.com")
}

func walkPassword(b *tab) {
	b.open("/")
	b.says("Try signing in", aliceName, alicePassword)
	b.click(signInLink)
	b.waitFor("/auth/signin")
	b.write(usernameBox, aliceName)
	b.write(passwordBox, "looking glass")
	b.click(passwordDone)
	b.waitFor("/auth/signin?error=CredentialsSignin")
	b.says("That is not right.")
	b.becomes(`document.activeElement.name === 'password'`) // the name is kept
	b.write(passwordBox, alicePassword)
	b.click(passwordDone)
	b.waitFor("/profile")
	b.says(aliceEmail)
}

func walkMagicLink(b *tab) {
	b.open("/auth/signin?callbackUrl=/members")
	b.write(emailForm+` input[name="email"]`, "reader@example.com")
	b.click(`button[formaction$="/signin/email"]`)
	b.waitFor("/auth/verify-request")
	b.says("Check your email", "mailbox of the site")
	b.open("/mailbox")
	b.says("To reader@example.com")
	b = b.opens("/members", func() {
		b.tabInto(".letter") // a frame of its own, whose only link is the mail's
		b.press(kb.Enter)
	})
	b.waitFor("/members")
	b.says("Welcome, reader@example.com")
}

func walkAccount(b *tab) {
	signInWithPassword(b)
	b.click(`nav a[href="/auth/account"]`)
	b.waitFor("/auth/account")
	b.says("Your account", aliceEmail, "This device")
	b.click(demoButton)
	b.click(`button[data-subject="alice"]`)
	b.waitFor("/auth/account")
	b.becomes(`[...document.querySelectorAll('.row .name')].some(e => e.textContent === 'Demo ID')`)
	b.click(`a[href*="do=delete"]`)
	b.waitFor("/auth/account?do=delete")
	b.click(`input[name="confirm"]`)
	b.click(`form button`)
	b.becomes(`document.body.innerText.includes('Your account has been deleted')`)
	b.click(`main a.primary`)
	b.waitFor("/")
	b.becomes("document.body.innerText.includes('Try signing in')")
}

func signInWithPassword(b *tab) {
	b.t.Helper()
	typeAlicesPassword(b, "/profile")
}

// typeAlicesPassword types the password of the front page, and waits for the path that follows.
func typeAlicesPassword(b *tab, lands string) {
	b.t.Helper()
	b.open("/auth/signin?callbackUrl=/profile")
	b.write(usernameBox, aliceName)
	b.write(passwordBox, alicePassword)
	b.press(kb.Enter)
	b.waitFor(lands)
}

// walkKeyboard never touches the mouse, and sees at every step where it is.
func walkKeyboard(b *tab) {
	b.open("/")
	b.tabTo(signInLink)
	b.press(kb.Enter)
	b.waitFor("/auth/signin")
	b.tabTo(usernameBox)
	b.press(aliceName)
	b.tabTo(passwordBox)
	b.press(alicePassword)
	b.tabTo(passwordDone)
	b.press(kb.Enter)
	b.waitFor("/profile")
	b.tabTo(userMenu)
	b.press(kb.Enter)
	b.tabTo(signOut)
	b.press(" ")
	b.waitFor("/")
	b.becomes("document.body.innerText.includes('Try signing in')")
}

// tabInto presses Tab until something in a frame has the focus.
func (b *tab) tabInto(frame string) {
	b.t.Helper()
	quoted, _ := json.Marshal(frame)
	for range 40 {
		b.press(kb.Tab)
		if ask[bool](b, "document.activeElement.matches("+string(quoted)+")") {
			return
		}
	}
	b.t.Fatalf("Tab never reaches %s", frame)
}

// tabTo presses Tab until an element has the focus. The parts of a field for a date show
// the focus by themselves.
func (b *tab) tabTo(selector string) {
	b.t.Helper()
	quoted, _ := json.Marshal(selector)
	for range 80 {
		b.press(kb.Tab)
		if !ask[bool](b, "document.activeElement.matches('body, input[type^=date]') || document.activeElement.matches(':focus-visible') && getComputedStyle(document.activeElement).outlineStyle !== 'none'") {
			b.t.Errorf("no focus to be seen on %s", ask[string](b, "document.activeElement.outerHTML"))
		}
		if ask[bool](b, "document.activeElement.matches("+string(quoted)+")") {
			return
		}
	}
	b.t.Fatalf("Tab never reaches %s", selector)
}

// walkNarrow looks at every page in the narrowest window that WCAG 2.2 names
// (1.4.10 Reflow): nothing may need scrolling sideways.
func walkNarrow(b *tab) {
	b.do("narrow", chromedp.EmulateViewport(320, 640))
	pages := []string{"/", "/components", "/mailbox", "/nowhere", "/auth/signin", "/auth/signin?error=CredentialsSignin", "/auth/verify-request", "/auth/error?error=AccessDenied"}
	for _, path := range pages[:3] {
		b.fits(path)
	}
	askForLink(b.t, latchkeytest.NewClientAt(b.t, b.origin), strings.Repeat("long.", 10)+"address@example.com")
	for _, path := range append(pages, newestFrame(b)) {
		b.fits(path)
	}
	b.open("/auth/signin")
	b.click(demoButton)
	b.becomes("document.querySelector('button[data-subject]') !== null")
	b.isNarrow()
	signInWithPassword(b)
	for _, path := range []string{"/", "/components", "/members", "/profile", "/auth/account", "/auth/account?do=delete", "/auth/signout"} {
		b.fits(path)
	}
}

func newestFrame(b *tab) string {
	b.open("/mailbox")
	return ask[string](b, "new URL(document.querySelector('.letter').src).pathname")
}

func (b *tab) fits(path string) {
	b.t.Helper()
	b.open(path)
	b.isNarrow()
	if at := ask[string](b, "location.pathname + location.search"); at != path {
		b.t.Errorf("looked at %s instead of %s", at, path)
	}
}

func (b *tab) isNarrow() {
	b.t.Helper()
	if wide := ask[int](b, "document.documentElement.scrollWidth"); wide > 320 {
		b.t.Errorf("%s is %d pixels wide: %s", ask[string](b, "location.pathname"), wide, ask[string](b, widest))
	}
}

// widest names the element that sticks out.
var widest = fmt.Sprintf(`[...document.querySelectorAll('*')].filter(e => e.getBoundingClientRect().right > %d).map(e => e.outerHTML.slice(0, 120)).join('\n')`, 320)
