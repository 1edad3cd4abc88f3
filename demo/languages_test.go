package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
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
		all = append(all, page.Provider{ID: fmt.Sprint(i), Name: "Microsoft Entra ID", Type: page.OAuth, Action: "/", Brand: "#0067b8", Mark: "M2 2h9v9H2z"})
	}
	if buttons > 0 {
		all[len(all)-1].Icon = "google"
	}
	return all
}

// someActivity has an activity of each kind that has a text.
func someActivity() (list []page.Happening) {
	for _, key := range slices.Sorted(maps.Keys(words.English())) {
		if kind, is := strings.CutPrefix(key, "activity."); is {
			list = append(list, page.Happening{
				Type: kind, Provider: manyProviders(0)[2], Browser: "Samsung Internet", System: "Android", Time: time.Unix(0, 0), Support: len(list)%2 > 0, Failed: len(list)%3 > 0,
			})
		}
	}
	return list
}

func fullAccount(notice, failed string) page.Account {
	some, seen := manyProviders(4), time.Unix(1_700_000_000, 0)
	device := page.Device{ID: "2", Name: "Firefox", System: "Linux", Detail: "Reykjavík", Seen: seen}
	return page.Account{
		Host: longHost, Origin: "/", Name: "Somebody With A Long Name", Email: longEmail, Image: "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'/%3E",
		Notice: notice, Error: failed, Script: "/passkeys.js", CallbackURL: "/",
		Linked: []page.Linked{
			{Provider: some[4], Detail: longEmail, Removable: true}, {Provider: some[0], Detail: longEmail}, {Provider: some[2], Fixed: true},
		},
		UnlinkAction: "/", Providers: some[4:],
		Passkeys: page.Passkeys{
			Keys: []page.Passkey{{ID: "1", Name: longHost, Created: seen, Used: seen, Removable: true}, {ID: "2"}}, RenameAction: "/", RemoveAction: "/",
			Add: some[3:4], Reauth: notice != "",
		},
		SecondStep: page.SecondStep{
			Apps: []page.App{{ID: "1", Name: longHost, Created: seen}, {ID: "2"}}, MailID: "3",
			Browsers:  []page.TrustedBrowser{{ID: "1", Name: "Samsung Internet", System: "Android", Until: seen}},
			AddAction: "/", MailAction: "/", RemoveAction: "/", RecoveryAction: "/", ForgetAction: "/", StopAction: "/",
		},
		Devices: []page.Device{
			{ID: "1", Name: "Samsung Internet", System: "Android", Seen: seen, This: true}, device, {ID: "3"}, {ID: "4", Acting: true},
		},
		Browsers: []page.Device{device}, ForgetAction: "/",
		Own: page.Own{ProfileURL: "/", Name: true, Image: true, ActivityURL: "/", Activity: someActivity()[:3], ExportURL: "/"}, AddressURL: "/", PasswordURL: "/",
		HasPassword: true, RemovePassword: "/", Replacement: longEmail, KeepAction: "/",
		EndAction: "/", OthersAction: "/", SignOutURL: "/", DeleteURL: "/",
	}
}

// serveGallery serves the gallery in some languages: /TAG/frames/WIDTH has all pages in
// frames of a width, and /TAG/NUMBER has one.
func serveGallery(t *testing.T, tags ...string) (origin string, pages map[string][]exhibit) {
	t.Helper()
	pages = map[string][]exhibit{}
	for _, tag := range tags {
		pages[tag] = gallery(t, tag)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{tag}/frames/{width}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,">`)
		all := pages[r.PathValue("tag")]
		for _, i := range numbers(all) {
			fmt.Fprintf(w, `<iframe width="%s" height="3000" srcdoc="%s"></iframe>`, r.PathValue("width"), htmlQuoted(all[i].body))
		}
	})
	mux.HandleFunc("GET /{tag}/{number}", func(w http.ResponseWriter, r *http.Request) {
		all := pages[r.PathValue("tag")]
		number, err := strconv.Atoi(r.PathValue("number"))
		if err != nil || number >= len(all) {
			http.NotFound(w, r)
			return
		}
		maps.Copy(w.Header(), all[number].header)
		w.WriteHeader(all[number].status)
		_, _ = w.Write(all[number].body)
	})
	mux.HandleFunc("GET /passkeys.js", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/javascript") })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL, pages
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

// WCAG 2.2, 1.4.4, 1.4.10 and 2.5.8: nothing needs scrolling sideways, nothing is cut or
// covers something else, and what is pressed is large enough.
func TestEveryLanguageFits(t *testing.T) {
	browser := startChromium(t)
	origin, _ := serveGallery(t, words.Tags()...)
	b := openTab(t, browser, origin)
	for _, tag := range words.Tags() {
		b.open("/" + tag + "/frames/320")
		if n := ask[int](b, "document.querySelectorAll('iframe').length"); n < 60 {
			t.Fatalf("%s: %d pages", tag, n)
		}
		for _, room := range []struct {
			width, text int
			unfolded    bool
		}{{320, 100, false}, {320, 100, true}, {1280, 100, true}, {1280, 200, false}} {
			ask[int](b, fmt.Sprintf("[...document.querySelectorAll('iframe')].map(f => (f.width = %d, f.contentDocument.documentElement.style.fontSize = '%d%%')).length", room.width, room.text))
			ask[int](b, fmt.Sprintf("[...document.querySelectorAll('iframe')].flatMap(f => [...f.contentDocument.querySelectorAll('details')].map(e => e.open = %v)).length", room.unfolded))
			for _, fault := range b.inFrames(misfits) {
				t.Errorf("R-401 %s at %d px, text of %d %%: %s", tag, room.width, room.text, fault)
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
	for (const e of d.querySelectorAll('.note:has(svg)'))
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
	browser, tags := startChromium(t), []string{"en", "ar", "ja"}
	origin, _ := serveGallery(t, tags...)
	b := openTab(t, browser, origin)
	for _, tag := range tags {
		b.open("/" + tag + "/frames/700")
		for _, fault := range b.inFrames(misplaced) {
			t.Errorf("R-397 %s: %s", tag, fault)
		}
	}
}
