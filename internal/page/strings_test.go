package page

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
)

// marked is a translation in which every text is its own key.
func marked() Strings {
	own := Strings{}
	for key, s := range English() {
		own[key] = "⟦" + key + " " + place(s) + "⟧"
	}
	return own
}

// variations are the pages in all the states that change their words.
func variations() []shown {
	all := everyPage
	for _, code := range []string{"Signin", "OAuthAccountNotLinked", "EmailSignin", "CredentialsSignin", "SessionRequired", "~"} {
		all = append(all, shown{"signin", func(r *Renderer) (Page, error) { return r.SignIn(SignIn{Error: code}) }})
	}
	for _, code := range []string{"Configuration", "AccessDenied", "Verification", "~"} {
		all = append(all, shown{"error", func(r *Renderer) (Page, error) { return r.Error(Error{Code: code}) }})
	}
	for _, code := range []string{"linked", "unlinked", "ended", "others", "last", "taken", "link", "confirm", "~"} {
		all = append(all, shown{"account", func(r *Renderer) (Page, error) { return r.Account(Account{Notice: code, Error: code}) }})
	}
	for _, kind := range []Kind{Forbidden, Missing, Refused, "~"} {
		all = append(all, shown{"error", func(r *Renderer) (Page, error) { return r.Problem(Problem{Kind: kind, As: "~", SignInURL: "/"}) }})
	}
	for _, tried := range []Tried{{Unusable: true}, {Wait: time.Hour}, {Wait: time.Second}} {
		all = append(all, shown{"signin", func(r *Renderer) (Page, error) { return r.SignIn(SignIn{Tried: tried}) }})
	}
	all = append(all, shown{"verify", func(r *Renderer) (Page, error) { return r.VerifyRequest(VerifyRequest{}) }})
	return append(all, shown{"confirm", func(r *Renderer) (Page, error) { return r.Confirm(Confirm{}) }})
}

var mark1 = regexp.MustCompile(`⟦([a-z.]+) `)

func TestEveryTextIsShown(t *testing.T) {
	r := mustNew(t, Options{Strings: marked()})
	seen := map[string]bool{}
	for _, s := range variations() {
		p, err := s.page(r)
		mustParse(t, p, err)
		for _, m := range mark1.FindAllStringSubmatch(string(p.Body), -1) {
			seen[m[1]] = true
		}
	}
	for key := range English() {
		if !seen[key] {
			t.Errorf("no page shows %q", key)
		}
	}
}

// Whatever a page says is in the table: with the table and the data blanked
// out, no letter is left.
func TestEveryWordHasAKey(t *testing.T) {
	blank := Strings{}
	for key, s := range English() {
		blank[key] = "~" + place(s)
	}
	r := mustNew(t, Options{Strings: blank})
	for i, p := range pagesOf(t, r, "~") {
		text := strings.ReplaceAll(mustParse(t, p, nil).words(), " UTC", "")
		if strings.ContainsFunc(text, unicode.IsLetter) {
			t.Errorf("%s says %q of its own", everyPage[i].name, text)
		}
	}
}

func TestTranslation(t *testing.T) {
	r := mustNew(t, Options{Lang: "ja", Strings: Strings{"signin.with": "{name}でサインイン", "signin.title": "サインイン"}})
	p, err := r.SignIn(SignIn{Providers: someProviders[:1]})
	doc := mustParse(t, p, err)
	if got := one(t, doc, "button").words(); got != "GitHub でサインイン" {
		t.Errorf("button says %q", got)
	}
	if got := one(t, doc, "title").words(); got != "サインイン" {
		t.Errorf("title is %q", got)
	}
	if got := one(t, doc, "h1").words(); got != "Sign in" {
		t.Errorf("a text without translation is %q, want the English one", got)
	}
	if html := one(t, doc, "html"); html.attr("lang") != "ja" || html.attr("dir") != "ltr" {
		t.Errorf("html has %v", html.attrs)
	}
}

func TestTranslatedTextsAreNotMarkup(t *testing.T) {
	own := Strings{}
	for key, s := range English() {
		own[key] = `</title><b onclick="x">'` + place(s)
	}
	r := mustNew(t, Options{Strings: own})
	plain := mustNew(t, Options{Strings: marked()})
	for _, s := range variations() {
		p, err := s.page(r)
		q, errPlain := s.page(plain)
		// A text that begins with its place has nothing before it, and no
		// element for that.
		if got, want := mustParse(t, p, err).shape(), mustParse(t, q, errPlain).shape(); strings.Count(got, "b ") > strings.Count(want, "b ") {
			t.Errorf("R-203 %s: %s", s.name, got)
		}
	}
}

func TestStringErrors(t *testing.T) {
	for name, test := range map[string]struct {
		own  Strings
		want string
	}{
		"a key that is not there": {Strings{"signin.headign": "x"}, `"signin.headign"`},
		"the place is missing":    {Strings{"signin.with": "Sign in"}, `"signin.with" must hold {name}`},
		"another place":           {Strings{"signin.with": "Sign in with {host}"}, `"signin.with" must hold {name}`},
		"the place twice":         {Strings{"signin.with": "{name} {name}"}, `"signin.with" must hold {name}`},
		"every fault is named":    {Strings{"a": "", "b": ""}, `"b"`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := New(Options{Strings: test.own}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

func TestEnglishIsACopy(t *testing.T) {
	English()["signin.heading"] = "changed"
	if English()["signin.heading"] != "Sign in" {
		t.Error("a caller changed the table")
	}
}

func TestLanguage(t *testing.T) {
	for _, test := range []struct{ lang, dir, wantLang, wantDir string }{
		{"", "", "en", "ltr"},
		{"de", "", "de", "ltr"},
		{"ar-EG", "", "ar-EG", "rtl"},
		{"HE", "", "HE", "rtl"},
		{"az-Arab", "rtl", "az-Arab", "rtl"},
		{"en", "sideways", "", ""},
		{`en" onload="x`, "", "", ""},
		{"e", "", "", ""},
	} {
		got, err := newTongue(test.lang, test.dir)
		if (err != nil) != (test.wantLang == "") || got != (tongue{test.wantLang, test.wantDir}) {
			t.Errorf("%q %q: %v, %v", test.lang, test.dir, got, err)
		}
	}
}
