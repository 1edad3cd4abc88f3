package page

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// byID is the element of an id.
func (n *node) byID(id string) *node {
	for _, kid := range n.kids {
		if kid.attr("id") == id {
			return kid
		}
		if found := kid.byID(id); found != nil {
			return found
		}
	}
	return nil
}

// an error belongs to the fields it is about.
func TestAnErrorBelongsToItsFields(t *testing.T) {
	passwords, mail := someProviders[2], someProviders[3]
	unseen := Provider{ID: "unseen", Name: "Unseen", Type: "proxy", Action: "/auth/callback/unseen", Fields: []Field{{Name: "device", Type: "hidden", Value: "7"}, {Name: "keep", Type: "checkbox"}}}
	for name, test := range map[string]struct {
		view  SignIn
		wrong []string // names of the fields that are marked
		focus string
		says  string
	}{
		"a wrong password": {
			SignIn{Error: "CredentialsSignin", Tried: Tried{Provider: "credentials", Typed: map[string]string{"username": "ada", "password": "x"}}},
			[]string{"username", "password"},
			"password", "check the details you provided",
		},
		"a wrong password, nothing kept":       {SignIn{Error: "CredentialsSignin"}, []string{"username", "password"}, "username", "check the details you provided"},
		"an address that is none":              {SignIn{Error: "EmailSignin", Tried: Tried{Provider: "email", Typed: map[string]string{"email": "a..b@c.example"}, Unusable: true}}, []string{"email"}, "email", "enter a complete email address"},
		"a mail that could not be sent":        {SignIn{Error: "EmailSignin"}, []string{"email"}, "email", "could not be sent"},
		"too many tries":                       {SignIn{Error: "CredentialsSignin", Tried: Tried{Provider: "credentials", Wait: 12*time.Minute + time.Second}}, []string{"username", "password"}, "username", "try again in 13 minutes"},
		"too many tries, nearly over":          {SignIn{Error: "CredentialsSignin", Tried: Tried{Provider: "credentials", Wait: time.Second}}, []string{"username", "password"}, "username", "try again in a minute"},
		"an error of no form":                  {SignIn{Error: "OAuthCallbackError"}, nil, "", "different account"},
		"a form that is there no longer":       {SignIn{Error: "CredentialsSignin", Tried: Tried{Provider: "gone"}}, nil, "", "check the details you provided"},
		"R-691 a form without visible fields":  {SignIn{Error: "CredentialsSignin", Tried: Tried{Provider: "unseen"}}, nil, "", "check the details you provided"},
		"no error, though something was tried": {SignIn{Tried: Tried{Provider: "email", Typed: map[string]string{"email": "a@b.example"}}}, nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			test.view.Providers = []Provider{someProviders[0], passwords, mail, unseen}
			p, err := mustNew(t, Options{}).SignIn(test.view)
			doc := mustParse(t, p, err)
			var wrong []string
			focus := ""
			for _, in := range doc.all("input") {
				if in.attr("aria-invalid") == "true" {
					wrong = append(wrong, in.attr("name"))
					if says := doc.byID(in.attr("aria-describedby")); says == nil || !strings.Contains(says.words(), test.says) {
						t.Errorf("%s is described by %v", in.attr("name"), says)
					}
				}
				if in.has("autofocus") {
					focus += in.attr("name")
				}
				typed := test.view.Tried.Typed[in.attr("name")]
				if kept := in.attr("value"); in.attr("type") == "password" && kept != "" || in.attr("type") != "password" && typed != "" && kept != typed {
					t.Errorf("%s holds %q", in.attr("name"), kept)
				}
			}
			if !slices.Equal(wrong, test.wrong) || focus != test.focus {
				t.Errorf("marked %v, focus on %q; want %v, %q", wrong, focus, test.wrong, test.focus)
			}
			if n := strings.Count(string(p.Body), `role="alert"`); n > 1 || (n == 1) != (test.says != "") || !strings.Contains(doc.words(), test.says) {
				t.Errorf("%d alerts: %s", n, doc.words())
			}
		})
	}
}

// a form of the application's own has the error although its fields are hidden.
func TestFormsWithoutVisibleFieldsShowTheirErrors(t *testing.T) {
	unseen := Provider{ID: "unseen", Type: Credentials, Fields: []Field{{Name: "device", Type: "hidden", Value: "7"}}}
	forms, wrong := mustNew(t, Options{}).Forms(SignIn{Error: "CredentialsSignin", Providers: []Provider{someProviders[3], unseen}})
	if wrong != "" || forms[0].Wrong != "" || !strings.Contains(forms[1].Wrong, "check the details you provided") {
		t.Errorf("the page says %q, the forms %q and %q", wrong, forms[0].Wrong, forms[1].Wrong)
	}
}

func TestTwoFormsOfAKindShareTheBlame(t *testing.T) {
	other := someProviders[2]
	other.ID = "other"
	p, err := mustNew(t, Options{}).SignIn(SignIn{Error: "CredentialsSignin", Providers: []Provider{someProviders[2], other}})
	doc := mustParse(t, p, err)
	if strings.Contains(string(p.Body), `aria-invalid="true"`) || doc.all("div")[0].attr("role") != "alert" {
		t.Error("R-327 an error of one of two forms is shown at one of them")
	}
}

// a page has one main button.
func TestOneMainButton(t *testing.T) {
	r := mustNew(t, Options{})
	for _, s := range everyPage {
		p, err := s.page(r)
		doc := mustParse(t, p, err)
		n := 0
		for _, b := range append(doc.all("button"), doc.all("a")...) {
			if classes := strings.Fields(b.attr("class")); slices.Contains(classes, "primary") || slices.Contains(classes, "danger") {
				n++
			}
		}
		want := 1
		if slices.Contains([]string{"account", "verify", "lost-begun", "lost-stopped"}, s.name) {
			want = 0 // nothing is left to do on it
		}
		if n != want {
			t.Errorf("R-327 %s has %d main buttons, want %d", s.name, n, want)
		}
	}
}

func TestTitlesNameTheSite(t *testing.T) {
	for name, want := range map[string]string{"": " · shop.example", "Ada's <shop>": " · Ada's <shop>"} {
		r := mustNew(t, Options{Theme: Theme{Name: name, Logo: "/logo.svg"}})
		for _, s := range everyPage {
			p, err := s.page(r)
			doc := mustParse(t, p, err)
			title := one(t, doc, "title").kids[0].text
			if own, ok := strings.CutSuffix(title, want); !ok || own == "" {
				t.Errorf("R-327 %s is called %q", s.name, title)
			}
			if alt := one(t, doc, "img").attr("alt"); alt != name {
				t.Errorf("R-327 %s: the logo says %q", s.name, alt)
			}
		}
	}
}

func TestPagesHaveAnIcon(t *testing.T) {
	for icon, want := range map[string]string{"": "data:image/svg+xml;base64,", "/icon.png": "/icon.png", "data:image/png;base64,AAAA": "data:image/png;base64,AAAA"} {
		r := mustNew(t, Options{Theme: Theme{Icon: icon, BrandColor: "teal"}})
		for _, s := range everyPage {
			p, err := s.page(r)
			link := one(t, mustParse(t, p, err), "link")
			if link.attr("rel") != "icon" || !strings.HasPrefix(link.attr("href"), want) || !strings.Contains(p.Policy, "img-src 'self' data:;") {
				t.Errorf("R-327 %s: %v under %q", s.name, link.attrs, p.Policy)
			}
		}
	}
}

// the main button of an error page does not repeat what failed.
func TestErrorPagesLeadOn(t *testing.T) {
	r := mustNew(t, Options{})
	for code, want := range map[string]string{
		"AccessDenied": "https://shop.example", "Configuration": "https://shop.example", "": "https://shop.example", "Verification": "/auth/signin",
	} {
		p, err := r.Error(Error{Code: code, Host: "shop.example", Origin: "https://shop.example", SignInURL: "/auth/signin"})
		for _, a := range mustParse(t, p, err).all("a") {
			if main := strings.Contains(a.attr("class"), "primary"); main != (a.attr("href") == want) {
				t.Errorf("R-327 %s: %q leads to %s", code, a.words(), a.attr("href"))
			}
		}
	}
}

func TestProblems(t *testing.T) {
	r := mustNew(t, Options{})
	for kind, want := range map[Kind]struct {
		status int
		says   string
		links  int
	}{
		Forbidden: {403, "do not have permission to see this page. You are signed in as ada", 2},
		Missing:   {404, "Page not found", 1},
		Refused:   {403, "another site sent this", 1},
		"other":   {403, "another site sent this", 1},
	} {
		p, err := r.Problem(Problem{Kind: kind, As: "ada", Host: "shop.example", Origin: "https://shop.example", SignInURL: "/auth/signin"})
		doc := mustParse(t, p, err)
		if p.Status != want.status || !strings.Contains(doc.words(), want.says) || len(doc.all("a")) != want.links {
			t.Errorf("%s: status %d, %d links, %s", kind, p.Status, len(doc.all("a")), doc.words())
		}
	}
}
