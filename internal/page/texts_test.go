package page

import (
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/latchkeyhq/latchkey/internal/words"
)

// marked is a translation in which every text is its own key.
func marked() words.Texts {
	own := words.Texts{}
	for key, s := range words.English() {
		own[key] = "⟦" + key + " " + strings.Join(words.Places(s), "") + "⟧"
	}
	return own
}

// variations are the pages in all the states that change their words.
func variations() []shown {
	all := everyPage
	for _, code := range []string{"Signin", "OAuthAccountNotLinked", "EmailSignin", "CredentialsSignin", "SessionRequired", "WebAuthnVerificationError", "SecondFactor", "~"} {
		all = append(all, shown{"signin", func(r *Renderer) (Page, error) { return r.SignIn(SignIn{Error: code}) }})
	}
	for _, code := range []string{"Configuration", "AccessDenied", "Verification", "~"} {
		all = append(all, shown{"error", func(r *Renderer) (Page, error) { return r.Error(Error{Code: code}) }})
	}
	all = append(all, shown{"error", func(r *Renderer) (Page, error) {
		return r.Error(Error{Code: "AccessDenied", Suspended: true, Until: time.Unix(1, 0), Reference: &Reference{Code: "~", Time: time.Unix(1, 0)}})
	}})
	for _, code := range []string{"linked", "unlinked", "ended", "others", "added", "renamed", "removed", "factor", "unfactor", "unmailed", "lastfactor", "unverified", "last", "taken", "link", "confirm", "~"} {
		all = append(all, shown{"account", func(r *Renderer) (Page, error) { return r.Account(Account{Notice: code, Error: code}) }})
	}
	all = append(all, shown{"account", func(r *Renderer) (Page, error) {
		return r.Account(Account{Notice: "unlinked", OthersAction: "/", Devices: []Device{{ID: "~"}}})
	}})
	for _, use := range []string{"passkey", "email", "recovery"} {
		all = append(all, shown{"factor", func(r *Renderer) (Page, error) {
			return r.Factor(Factor{Use: use, Sent: true, Others: []OtherFactor{{"totp", "/"}, {"passkey", "/"}, {"email", "/"}}})
		}})
	}
	for _, kind := range []Kind{Forbidden, Missing, Refused, Away, "~"} {
		all = append(all, shown{"error", func(r *Renderer) (Page, error) {
			return r.Problem(Problem{Kind: kind, As: "~", SignInURL: "/", AgainURL: "/"})
		}})
	}
	for _, over := range []string{"expired", "ended"} {
		all = append(all, shown{"signin", func(r *Renderer) (Page, error) { return r.SignIn(SignIn{Over: over}) }})
	}
	for _, tried := range []Tried{{Unusable: true}, {Unknown: true}, {Wait: time.Hour}, {Wait: time.Second}} {
		all = append(all, shown{"signin", func(r *Renderer) (Page, error) { return r.SignIn(SignIn{Tried: tried}) }})
	}
	for _, fields := range [][]Field{{{Name: "email", Type: "email"}, {Name: "password", Type: "password"}}, {{Name: "name"}, {Name: "password", Type: "password"}}} {
		all = append(all, shown{"signin", func(r *Renderer) (Page, error) {
			return r.SignIn(SignIn{Providers: append([]Provider{{ID: "~", Type: Credentials, Fields: fields}}, someProviders[3:]...)})
		}})
	}
	all = append(all, shown{"verify", func(r *Renderer) (Page, error) {
		return r.VerifyRequest(VerifyRequest{
			Host: "shop.example", Origin: "https://shop.example", Email: "me@example.com",
			CSRFToken: "c5f", Action: "/auth/signin/email", SignInURL: "/auth/signin",
			CodeAction: "/auth/callback/email", CodeDigits: 8, CodeWrong: true,
		})
	}})
	for _, v := range []Invite{{As: "~", SignOutURL: "/", Host: "shop.example"}, {Gone: true, Host: "shop.example", Origin: "/"}} {
		all = append(all, shown{"invite", func(r *Renderer) (Page, error) { return r.Invite(v) }})
	}
	for _, about := range []string{"signup", "reset", "move"} {
		all = append(all, shown{"verify", func(r *Renderer) (Page, error) { return r.VerifyRequest(VerifyRequest{Email: "~", About: about}) }})
	}
	for _, notice := range []string{"password", "email", "forgotten", "nopassword"} {
		all = append(all, shown{"account", func(r *Renderer) (Page, error) { return r.Account(Account{Notice: notice, PasswordURL: "/"}) }})
	}
	for _, v := range []Prove{
		{Use: "totp", Others: []OtherProof{{"password", "", "/"}, {"email", "", "/"}}},
		{Use: "provider", ProviderName: "~", Failed: true},
		{Use: "email", Sent: true},
		{Use: "passkey", Wrong: true},
		{Use: "recovery", Wrong: true},
		{Spent: true},
		{SignInURL: "/"},
	} {
		all = append(all, shown{"prove", func(r *Renderer) (Page, error) { return r.Prove(v) }})
	}
	all = append(all, passwordPages()...)
	for _, done := range []string{"recovery", "address", "kept"} {
		all = append(all, shown{"signin", func(r *Renderer) (Page, error) { return r.SignIn(SignIn{Done: done}) }})
	}
	all = append(all, profilePages()...)
	all = append(all, shown{"account", func(r *Renderer) (Page, error) {
		return r.Acting("/auth/signout").Account(Account{Devices: []Device{{Name: "Firefox", Acting: true}}})
	}})
	all = append(all, shown{"reauth", func(r *Renderer) (Page, error) { return r.Reauth(Reauth{}) }})
	all = append(all, shown{"verify", func(r *Renderer) (Page, error) { return r.VerifyRequest(VerifyRequest{}) }})
	return append(all, shown{"confirm", func(r *Renderer) (Page, error) { return r.Confirm(Confirm{}) }})
}

var mark1 = regexp.MustCompile(`⟦([a-z.]+) `)

func TestEveryTextIsShown(t *testing.T) {
	seen := map[string]bool{}
	for _, theme := range []Theme{{}, {Name: "~", Contact: "help@shop.example"}} {
		r := mustNew(t, Options{Text: says(marked()), Theme: theme})
		for _, s := range variations() {
			p, err := s.page(r)
			mustParse(t, p, err)
			for _, m := range mark1.FindAllStringSubmatch(string(p.Body), -1) {
				seen[m[1]] = true
			}
		}
	}
	for key := range words.English() {
		if !seen[key] && !strings.HasPrefix(key, "mail.") {
			t.Errorf("no page shows %q", key)
		}
	}
}

// Whatever a page says is in the table: with the table and the data blanked
// out, no letter is left.
func TestEveryWordHasAKey(t *testing.T) {
	blank := words.Texts{}
	for key, s := range words.English() {
		blank[key] = "~" + strings.Join(words.Places(s), "")
	}
	r := mustNew(t, Options{Text: says(blank)})
	for i, p := range pagesOf(t, r, "~") {
		text := strings.NewReplacer(" UTC", "", webScheme, "").Replace(mustParse(t, p, nil).words())
		if strings.ContainsFunc(text, unicode.IsLetter) {
			t.Errorf("%s says %q of its own", everyPage[i].name, text)
		}
	}
}

func TestTranslation(t *testing.T) {
	r := mustNew(t, Options{Languages: []string{"tlh"}, Text: says(words.Texts{"signin.with": "{name}でサインイン", "signin.title": "サインイン"})})
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
	if html := one(t, doc, "html"); html.attr("lang") != "tlh" || html.attr("dir") != "ltr" {
		t.Errorf("html has %v", html.attrs)
	}
}

func TestTranslatedTextsAreNotMarkup(t *testing.T) {
	own := words.Texts{}
	for key, s := range words.English() {
		own[key] = `</title><b onclick="x">'` + strings.Join(words.Places(s), "")
	}
	r := mustNew(t, Options{Text: says(own)})
	plain := mustNew(t, Options{Text: says(marked())})
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

func TestTextErrors(t *testing.T) {
	for name, test := range map[string]struct {
		languages []string
		own       words.Texts
		want      string
	}{
		"the place is missing":         {nil, words.Texts{"signin.with": "Sign in"}, `en: "signin.with" must hold {name}`},
		"another place":                {nil, words.Texts{"signin.with": "Sign in with {host}"}, `"signin.with" must hold {name}`},
		"the place twice":              {nil, words.Texts{"signin.with": "{name} {name}"}, `"signin.with" must hold {name}`},
		"every fault is named":         {nil, words.Texts{"signin.with": "x", "confirm.as": "x"}, `"signin.with"`},
		"in every language":            {nil, words.Texts{"signin.with": "x"}, `de: "signin.with"`},
		"a text of the mail":           {nil, words.Texts{"mail.subject": "x"}, `"mail.subject" must hold {host}`},
		"no tag":                       {[]string{`en" onload="x`}, nil, "BCP 47"},
		"twice":                        {[]string{"de", "DE"}, nil, "twice"},
		"nobody speaks it":             {[]string{"tlh"}, nil, "not built in"},
		"nobody speaks it, near other": {[]string{"en", "x"}, nil, "BCP 47"},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Languages: test.languages}
			if test.own != nil {
				o.Text = says(test.own)
			}
			if _, err := New(o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

// A set of templates speaks one language at a time, whoever renders beside it.
func TestLanguagesAtOnce(t *testing.T) {
	p, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for _, tag := range words.Tags() {
		group.Go(func() {
			for range 20 {
				page, err := p.In(tag).SignOut(SignOut{})
				doc, failed := parse(string(page.Body))
				if err != nil || failed != nil || one(t, doc, "html").attr("lang") != tag || one(t, doc, "h1").words() != words.Text(tag, "signout.heading") {
					t.Errorf("%s: %v %v\n%s", tag, err, failed, page.Body)
				}
			}
		})
	}
	group.Wait()
}

func TestPlacesAreFilledInTheOrderOfTheLanguage(t *testing.T) {
	for text, want := range map[string]string{
		"{a} on {b}": "1 on 2", "{b}の{a}": "2の1", "{b}{a}!": "21!", "{c} {b} {a}": "{c} 2 1", "{ {a}{b": "{ 1{b",
	} {
		got := texts{builtIn: map[string]phrase{"k": cut(text, []string{"{a}", "{b}"})}}.text("k", "1", "2")
		if got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// What the library itself calls providers and devices is translated; names that
// the site or the device gave are not.
func TestOurOwnNamesAreTranslated(t *testing.T) {
	german := texts{tag: "de", builtIn: nearest("de")}
	for _, row := range []struct{ got, want string }{
		{german.label(Provider{ID: "post", Type: Email}), "E-Mail"},
		{german.label(Provider{ID: "post", Type: Credentials}), "Zugangsdaten"},
		{german.label(Provider{ID: "post", Name: "Magic link", Type: Email}), "Magic link"},
		{german.label(Provider{ID: "post", Name: "Email", Type: Email}), "Email"},
		{german.label(Provider{ID: "email", Type: OAuth}), "email"},
		{german.submit(Provider{ID: "post", Type: Credentials}), "Anmelden"},
		{german.submit(Provider{ID: "post", Name: "Acme", Type: Credentials}), "Mit Acme anmelden"},
		{texts{builtIn: nearest("nl")}.label(Provider{Type: Email}), "e-mail"},
		{texts{builtIn: nearest("nl")}.alone(Provider{Type: Email}), "E-mail"},
		{german.alone(Provider{ID: "acme"}), "acme"},
		{german.alone(Provider{}), ""},
		{german.device(Device{Name: "Firefox", System: "Linux"}), "Firefox auf Linux"},
		{german.device(Device{Name: "Firefox"}), "Firefox"},
		{german.device(Device{System: "Linux"}), "Linux"},
		{german.device(Device{}), "Unbekanntes Gerät"},
	} {
		if row.got != row.want {
			t.Errorf("%q, want %q", row.got, row.want)
		}
	}
}
