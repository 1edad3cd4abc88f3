package page

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/race"
)

// R-554 A sign-in page has one address field. The property is checked on random
// providers: every provider has exactly one button, which posts to its own route and
// sends all of its fields; no two fields of the page are called email and have the
// type email; and there is one main button. On the pages of before it found the second
// and third field for a magic link, a passkey and a password by address.
func TestOneAddressField(t *testing.T) {
	seed, steps := race.Steps(t, 300)
	random := rand.New(rand.NewPCG(seed, 0))
	r := mustNew(t, Options{})
	for range steps {
		v := SignIn{CSRFToken: "c5f", Script: "/s.js", Providers: randomProviders(random)}
		p, err := r.SignIn(v)
		doc := mustParse(t, p, err)
		checkControls(t, doc)
		addresses, main := 0, 0
		routes := map[string]bool{}
		for _, form := range doc.all("form") {
			var names []string
			for _, in := range form.all("input") {
				names = append(names, in.attr("name"))
				if in.attr("type") == "email" {
					addresses++
				}
			}
			for _, b := range form.all("button") {
				to := cmp.Or(b.attr("formaction"), form.attr("action"))
				if strings.Contains(b.attr("class"), "primary") {
					main++
				}
				if routes[to] && b.attr("value") != "register" {
					t.Errorf("R-554 two buttons for %s", to)
				}
				routes[to] = true
				at := slices.IndexFunc(v.Providers, func(p Provider) bool { return p.Action == to })
				if at < 0 {
					t.Fatalf("R-554 a button leads to %q", to)
				}
				for _, f := range v.Providers[at].fields() {
					if !slices.Contains(names, f.Name) {
						t.Errorf("R-554 the form of %s lacks %s", to, f.Name)
					}
				}
			}
		}
		if len(routes) != len(v.Providers) || addresses > 1 || main > 1 {
			t.Fatalf("R-554 %d routes for %d providers, %d address fields, %d main buttons:\n%s", len(routes), len(v.Providers), addresses, main, p.Body)
		}
	}
}

// randomProviders returns at most one provider of each kind that asks for an address,
// and some others, in any order.
func randomProviders(r *rand.Rand) []Provider {
	address := Field{Name: "email", Type: "email"}
	password := Field{Name: "password", Type: "password"}
	all := []Provider{
		{Type: Email},
		{Type: WebAuthn, SignsUp: r.IntN(2) == 0},
		{Type: WebAuthn, Fields: []Field{}},
		{Type: Credentials, Fields: []Field{address, password, {Name: "stay", Type: "checkbox"}}},
		{Type: Credentials, Fields: []Field{{Name: "name"}, password}},
		{Type: OAuth},
		{Type: OIDC, Name: "A long name of some length"},
		{Type: OAuth},
	}
	for i := range all {
		all[i].ID = fmt.Sprint("p", i)
		all[i].Action = "https://shop.example/auth/" + all[i].ID
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:r.IntN(len(all)+1)]
}

// R-554 What is wrong with one way of a shared form is said at the fields of that way,
// and what was typed is kept.
func TestBlameInASharedForm(t *testing.T) {
	password := Provider{ID: "crew", Type: Credentials, Action: "/crew", Fields: []Field{{Name: "email", Type: "email"}, {Name: "password", Type: "password"}}}
	for _, c := range []struct {
		name, code, tried string
		wrong             []string
		focus             string
	}{
		{"a wrong password", "CredentialsSignin", "crew", []string{"email", "password"}, "password"},
		{"a mail that could not be sent", "EmailSignin", "email", []string{"email"}, "email"},
		{"a passkey that did not work", "WebAuthnVerificationError", "passkey", []string{"email"}, "email"},
	} {
		t.Run("R-554 "+c.name, func(t *testing.T) {
			p, err := mustNew(t, Options{}).SignIn(SignIn{
				Error: c.code, Tried: Tried{Provider: c.tried, Typed: map[string]string{"email": "ada@shop.example"}},
				Providers: append([]Provider{password}, someProviders[3:]...),
			})
			doc := mustParse(t, p, err)
			var wrong []string
			for _, in := range doc.all("input") {
				if in.attr("aria-invalid") == "true" {
					wrong = append(wrong, in.attr("name"))
				}
				if in.has("autofocus") != (in.attr("name") == c.focus) {
					t.Errorf("autofocus of %s", in.attr("name"))
				}
				if in.attr("name") == "email" && (in.attr("value") != "ada@shop.example" || in.attr("autocomplete") != "username webauthn") {
					t.Errorf("the address field is %v", in.attrs)
				}
			}
			if !slices.Equal(wrong, c.wrong) || strings.Count(string(p.Body), `role="alert"`) != 2 { // the other is that of the script
				t.Errorf("marked %v: %s", wrong, p.Body)
			}
		})
	}
}

// R-554 Pages call the site by its name, and say whom to ask where they refuse.
func TestTheSiteIsNamed(t *testing.T) {
	r := mustNew(t, Options{Theme: Theme{Name: "Acme", Contact: "help@acme.example"}})
	for _, s := range everyPage {
		p, err := s.page(r)
		if said := one(t, mustParse(t, p, err), "main").words(); strings.Contains(said, "shop.example") && s.name != "confirm" {
			t.Errorf("R-554 %s names the host: %s", s.name, said)
		}
	}
	for contact, href := range map[string]string{"help@acme.example": "mailto:help@acme.example", "https://acme.example/help": "https://acme.example/help"} {
		r := mustNew(t, Options{Theme: Theme{Contact: contact}})
		for _, page := range []func() (Page, error){
			func() (Page, error) { return r.Error(Error{Code: "AccessDenied"}) },
			func() (Page, error) { return r.Problem(Problem{Kind: Forbidden}) },
		} {
			p, err := page()
			if a := mustParse(t, p, err).all("a"); len(a) != 1 || a[0].attr("href") != href {
				t.Errorf("R-554 no link to %s: %s", href, p.Body)
			}
		}
	}
	for _, wrong := range []string{"help", "javascript:x", "mailto:a@b.example", "a@b.example?subject=x", "https://", "//acme.example"} {
		if _, err := New(Options{Theme: Theme{Contact: wrong}}); err == nil {
			t.Errorf("R-554 Contact %q passes", wrong)
		}
	}
}

// R-554 The account page has a picture only if showing it asks no other site.
func TestAvatar(t *testing.T) {
	for _, c := range []struct{ image, name, email, src, initials string }{
		{"/ada.png", "Ada Lovelace", "", "/ada.png", ""},
		{"https://shop.example/ada.png", "Ada Lovelace", "", "https://shop.example/ada.png", ""},
		{"data:image/png;base64,AAAA", "Ada", "", "data:image/png;base64,AAAA", ""},
		{"https://pictures.example/ada.png", "Ada King Lovelace", "", "", "AL"},
		{"https://shop.example.evil.example/a", "ada", "", "", "A"},
		{"//evil.example/a", "李 小龍", "", "", "李小"},
		{"javascript:x", "", "bo@shop.example", "", "B"},
		{"", "", "", "", ""},
	} {
		p, err := mustNew(t, Options{}).Account(Account{Image: c.image, Name: c.name, Email: c.email, Origin: "https://shop.example/app"})
		doc := mustParse(t, p, err)
		src, said := "", ""
		for _, img := range doc.all("img") {
			src += img.attr("src")
		}
		for _, span := range doc.all("span") {
			if span.attr("class") == "avatar" {
				said += span.words()
			}
		}
		if src != c.src || said != c.initials {
			t.Errorf("R-554 %q of %q: picture %q, initials %q", c.image, c.name, src, said)
		}
	}
}
