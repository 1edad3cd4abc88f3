package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/words"
)

// Every page in every language, as a browser lays it out. All pages of a
// language stand beside each other in frames, so that one look is enough.

const (
	longHost  = "accounts.a-rather-long-name.example.com"
	longEmail = "somebody.with.a.long.name@department.example.com"
)

// everyPage makes each page with all that it can have, or what else changes it.
func everyPage(r *page.Renderer) (all []page.Page, err error) {
	add := func(p page.Page, failed error) {
		if failed != nil {
			err = failed
		}
		all = append(all, p)
	}
	for _, code := range []string{"", "Signin", "OAuthAccountNotLinked", "EmailSignin", "CredentialsSignin", "SessionRequired", "other"} {
		add(r.SignIn(page.SignIn{Host: longHost, Error: code, As: longEmail, Email: longEmail, Providers: manyProviders(3)}))
	}
	for _, tried := range []page.Tried{{Provider: "crew"}, {Provider: "post", Unusable: true}, {Provider: "crew", Unknown: true}, {Provider: "crew", Wait: time.Hour}, {Provider: "post", Wait: time.Second}} {
		add(r.SignIn(page.SignIn{Host: longHost, Error: "CredentialsSignin", Tried: tried, Providers: manyProviders(9)}))
	}
	add(r.SignIn(page.SignIn{}))
	add(r.SignedIn(page.SignedIn{As: longEmail, Host: longHost, ContinueURL: "/", SignOutURL: "/"}))
	add(r.SignOut(page.SignOut{CancelURL: "/", Host: longHost}))
	add(r.SignedOut(page.SignedOut{Host: longHost, Origin: "/", SignInURL: "/"}))
	add(r.VerifyRequest(page.VerifyRequest{Host: longHost, Origin: "/"}))
	add(r.VerifyRequest(page.VerifyRequest{Host: longHost, Origin: "/", Email: longEmail, Again: true, SignInURL: "/"}))
	add(r.Confirm(page.Confirm{Host: longHost}))
	add(r.Confirm(page.Confirm{Host: longHost, Email: longEmail}))
	for _, code := range []string{"", "Configuration", "AccessDenied", "Verification"} {
		add(r.Error(page.Error{Code: code, Host: longHost, Origin: "/", SignInURL: "/"}))
	}
	for _, kind := range []page.Kind{page.Forbidden, page.Missing, page.Refused} {
		add(r.Problem(page.Problem{Kind: kind, As: longEmail, Host: longHost, Origin: "/", SignInURL: "/"}))
	}
	for _, notice := range []string{"linked", "unlinked", "ended", "others"} {
		add(r.Account(fullAccount(notice, "other")))
	}
	for _, failed := range []string{"last", "taken", "link", "confirm"} {
		add(r.Account(fullAccount("", failed)))
	}
	add(r.DeleteAccount(page.DeleteAccount{Name: longEmail, CancelURL: "/", Host: longHost, Error: true}))
	for _, deletes := range []bool{true, false} {
		add(r.Reauth(page.Reauth{SignInURL: "/", CancelURL: "/", Host: longHost, Deletes: deletes, Exports: true}))
		field := page.ProfileField{Value: strings.Repeat("long", 20), Wrong: deletes}
		add(r.Profile(page.Profile{BackURL: "/", Host: longHost, Name: &field, Image: &field}))
		add(r.Export(page.Export{BackURL: "/", Host: longHost, Wait: deletes}))
	}
	add(r.Activity(page.Activity{BackURL: "/", Host: longHost, List: someActivity()}))
	add(r.Offer(page.Offer{CallbackURL: "/", Host: longHost}))
	add(r.Farewell(page.Farewell{Host: longHost, Origin: "/"}))
	return all, err
}

func manyProviders(buttons int) []page.Provider {
	all := []page.Provider{
		{ID: "crew", Name: "Credentials", Type: page.Credentials, Fields: []page.Field{
			{Name: "username", Label: "Name"}, {Name: "password", Type: "password", Label: "Password"}, {Name: "stay", Type: "checkbox", Label: "Stay signed in"},
		}},
		{ID: "staff", Type: page.Credentials, Fields: []page.Field{{Name: "email", Type: "email"}, {Name: "password", Type: "password"}}},
		{ID: "post", Type: page.Email},
		{ID: "passkey", Type: page.WebAuthn, SignsUp: true},
	}
	for i := range buttons {
		all = append(all, page.Provider{ID: fmt.Sprint(i), Name: "Microsoft Entra ID", Type: page.OAuth})
	}
	return all
}

// someActivity has an activity of each kind that has a text.
func someActivity() (list []page.Happening) {
	for key := range words.English() {
		if kind, is := strings.CutPrefix(key, "activity."); is {
			list = append(list, page.Happening{Type: kind, Provider: manyProviders(0)[2], Browser: "Samsung Internet", System: "Android", Time: time.Unix(0, 0), Support: len(list)%2 > 0})
		}
	}
	return list
}

func fullAccount(notice, failed string) page.Account {
	some := manyProviders(4)
	return page.Account{
		Host: longHost, Origin: "/", Name: "Somebody With A Long Name", Email: longEmail, Notice: notice, Error: failed,
		Linked: []page.Linked{
			{Provider: some[4], Detail: longEmail, Removable: true}, {Provider: some[0], Detail: longEmail}, {Provider: some[2], Fixed: true},
		},
		UnlinkAction: "/", Providers: some[4:],
		Devices: []page.Device{
			{ID: "1", Name: "Samsung Internet", System: "Android", Seen: time.Now(), This: true}, {ID: "2", Name: "Firefox", System: "Linux", Seen: time.Unix(0, 0)}, {ID: "3"},
		},
		Own: page.Own{ProfileURL: "/", Name: true, Image: true, ActivityURL: "/", Activity: someActivity()[:3], ExportURL: "/"}, AddressURL: "/", PasswordURL: "/",
		EndAction: "/", OthersAction: "/", SignOutURL: "/", DeleteURL: "/",
	}
}

// serveFrames serves /TAG/WIDTH, all pages of a language in frames of a width.
func serveFrames(t *testing.T) string {
	pages, err := page.New(page.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tag, width, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		all, err := everyPage(pages.In(tag))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,">`)
		for _, p := range all {
			fmt.Fprintf(w, `<iframe width="%s" height="3000" srcdoc="%s"></iframe>`, width, htmlQuoted(p.Body))
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func htmlQuoted(page []byte) string {
	return strings.NewReplacer("&", "&amp;", `"`, "&quot;").Replace(string(page))
}

// inFrames evaluates a function of each frame's document, and gives what is not
// empty of it.
func (b *tab) inFrames(function string) []string {
	b.t.Helper()
	raw := ask[json.RawMessage](b, `[...document.querySelectorAll('iframe')].flatMap(f => (`+function+`)(f.contentDocument))`)
	var found []string
	if err := json.Unmarshal(raw, &found); err != nil {
		b.t.Fatal(err)
	}
	return found
}

// sticksOut names what leaves its frame or its box.
const sticksOut = `d => {
	const width = d.documentElement.clientWidth, found = [];
	const name = e => d.querySelector('h1').textContent + ': ' + e.outerHTML.slice(0, 160);
	if (d.documentElement.scrollWidth > width) found.push('the page ' + d.documentElement.scrollWidth + ' px: ' + name(d.body));
	for (const e of d.querySelectorAll('main, main *:not(svg, svg *, script, .unseen, .quiet)')) {
		const box = e.getBoundingClientRect();
		if (box.right > width + 1 || box.left < -1) found.push(name(e));
		if (e.matches('.button, p, h1, h2, h3, label, span.name') && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0) found.push('inside of ' + name(e));
	}
	return found;
}`

// WCAG 2.2, 1.4.10: nothing may need scrolling sideways.
func TestEveryLanguageFits(t *testing.T) {
	browser, origin := startChromium(t), serveFrames(t)
	b := openTab(t, browser, origin)
	for _, tag := range words.Tags() {
		b.open("/" + tag + "/320")
		if n := ask[int](b, "document.querySelectorAll('iframe').length"); n < 25 {
			t.Fatalf("%s: %d pages", tag, n)
		}
		for _, width := range []int{320, 1280} {
			ask[int](b, fmt.Sprintf("[...document.querySelectorAll('iframe')].map(f => f.width = %d).length", width))
			for _, fault := range b.inFrames(sticksOut) {
				t.Errorf("R-401 %s at %d px: %s", tag, width, fault)
			}
		}
	}
}

// misplaced names what does not stand where readers of a direction look for it:
// start is the side where a line begins.
const misplaced = `d => {
	const root = d.documentElement, rtl = root.dir === 'rtl', found = [];
	const title = d.querySelector('h1').textContent;
	const fault = (what, e) => found.push(title + ': ' + what + ': ' + (e ? e.outerHTML.slice(0, 160) : ''));
	if (rtl !== (root.lang === 'ar')) fault('dir is ' + root.dir + ' in ' + root.lang);
	if (getComputedStyle(d.body).direction !== (rtl ? 'rtl' : 'ltr')) fault('the text runs ' + getComputedStyle(d.body).direction);
	const before = (a, b) => { // a stands at the start of the line, b behind it
		const x = a.getBoundingClientRect(), y = b.getBoundingClientRect();
		return rtl ? x.left >= y.right - 1 : x.right <= y.left + 1;
	};
	for (const e of d.querySelectorAll('.button:has(> .mark)'))
		if (!before(e.querySelector('.mark'), e.querySelector('.mark + span'))) fault('mark', e);
	for (const e of d.querySelectorAll('.note'))
		if (!before(e.querySelector('svg'), e.querySelector('p'))) fault('sign', e);
	for (const e of d.querySelectorAll('.check'))
		if (!before(e.querySelector('input'), e.querySelector('label'))) fault('box', e);
	for (const e of d.querySelectorAll('.row > form, .row > .tag, .row > .detail'))
		if (!before(e.parentElement.querySelector('.what'), e)) fault('what can be done', e);
	for (const e of d.querySelectorAll('.top > .button'))
		if (!before(e.parentElement.querySelector('h1'), e)) fault('sign-out', e);
	for (const e of d.querySelectorAll('label, h2, .who, .row .name')) {
		const align = getComputedStyle(e).textAlign;
		if (align !== 'start' && align !== (rtl ? 'right' : 'left')) fault('aligned ' + align, e);
	}
	return found;
}`

func TestDirectionOfPages(t *testing.T) {
	browser, origin := startChromium(t), serveFrames(t)
	b := openTab(t, browser, origin)
	for _, tag := range []string{"en", "ar", "ja"} {
		b.open("/" + tag + "/700")
		for _, fault := range b.inFrames(misplaced) {
			t.Errorf("R-397 %s: %s", tag, fault)
		}
	}
}
