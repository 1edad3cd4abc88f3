package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestComponents posts the forms of the components page as they are.
func TestComponents(t *testing.T) {
	c := newClient(t)
	p := c.Get("/components")
	wants(t, p, 200, "latchkey-box", `/auth/signin/demo?prompt=login"`, "To the sign-in page", `href="/components.css"`)
	for path, mediaType := range map[string]string{"/components.css": "text/css; charset=utf-8", "/live.js": "text/javascript; charset=utf-8"} {
		if asset := c.Get(path); asset.Status != 200 || asset.Header.Get("Content-Type") != mediaType {
			t.Errorf("%s: %d %s", path, asset.Status, asset.Header.Get("Content-Type"))
		}
	}
	form := url.Values{"providerId": {"credentials"}, "username": {aliceName}, "password": {"looking glass"}, "redirectTo": {"/profile"}}
	refused := c.Post("/components", form)
	wants(t, refused, 403, "That is not right.", `value="`+aliceName+`"`)
	if strings.Contains(string(refused.Body), "looking glass") {
		t.Error("R-327: the password is shown again")
	}
	form.Set("password", alicePassword)
	leads(t, c.Post("/components", form), "/profile")
	wants(t, c.Get("/components"), 200, `<span class="latchkey-name">Alice`, `action="/signout"`, "/auth/account", aliceEmail)
	leads(t, c.Post("/signout", url.Values{"redirectTo": {"/components"}}), "/components")
	if c.Session() != nil {
		t.Error("still signed in")
	}
}

// walkComponents uses the box, the live indicator and the menu, all of them under
// a strict policy.
func walkComponents(b *tab) {
	live := func(text string) string { return "document.querySelector('#live').innerText.includes('" + text + "')" }
	box := `.latchkey-box form:has(input[value="credentials"]) `
	b.open("/components")
	b.becomes(live("Nobody is signed in"))
	other := b.another()
	other.open("/")
	other.becomes(live("Nobody is signed in"))
	b.write(box+`[name="username"]`, aliceName)
	b.write(box+`[name="password"]`, "looking glass")
	b.click(box + `button`)
	b.becomes(`document.querySelector('[role=alert]')?.innerText.includes('That is not right.') === true`)
	b.becomes(`document.activeElement.name === 'password' && document.querySelector('[name=username]').value === '` + aliceName + `'`)
	b.write(box+`[name="password"]`, alicePassword)
	b.click(box + `button`)
	b.becomes("document.readyState === 'complete' && document.querySelector('.latchkey-box') && " + live("Signed in as Alice") + " && !" + live("Reload"))
	other.becomes(live("Signed in as Alice. Reload"))
	other.click("#live a")
	other.becomes("document.readyState === 'complete' && document.body.innerText.includes('Hello, Alice')")
	other.click(userMenu)
	other.click(`header .latchkey-panel a`)
	other.waitFor("/auth/account")
	b.click(userMenu)
	b.click(signOut)
	b.becomes("document.readyState === 'complete' && document.body.innerText.includes('Try signing in')")
	other.open("/components")
	other.click(`.parts form[action*="prompt=login"] button`)
	other.click(`button[data-subject="ada"]`)
	other.waitFor("/profile")
	b.becomes(live("Signed in as Ada Lovelace. Reload"))
}

// walkWithoutScript signs in and out where JavaScript is off.
func walkWithoutScript(b *tab) {
	b.do("start")
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		b.t.Fatal(err)
	}
	b.open("/components")
	b.write(`.latchkey-box form:has(input[value="credentials"]) [name="username"]`, aliceName)
	b.write(`.latchkey-box form:has(input[value="credentials"]) [name="password"]`, alicePassword)
	b.click(`.latchkey-box form:has(input[value="credentials"]) button`)
	b.becomes("document.readyState === 'complete' && document.querySelector('header summary') !== null")
	b.click(userMenu)
	b.click(signOut)
	b.becomes("document.readyState === 'complete' && document.body.innerText.includes('Try signing in')")
	b.open("/components")
	b.click(`.parts .primary`)
	b.waitFor("/auth/signin?callbackUrl=")
}
