package page

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden outlines anew")

func TestOutlines(t *testing.T) {
	r := mustNew(t, Options{Theme: Theme{Logo: "/logo.svg", Name: "Shop"}})
	for _, s := range everyPage {
		t.Run(s.name, func(t *testing.T) {
			p, err := s.page(r)
			doc := mustParse(t, p, err)
			for _, script := range doc.all("script") {
				script.attrs = slices.DeleteFunc(script.attrs, func(a attr) bool { return a.name == "nonce" })
			}
			var b strings.Builder
			doc.outline(&b, 0)
			golden(t, s.name, b.String())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s changed (-update writes it anew):\n%s", file, got)
	}
}

func TestEveryPage(t *testing.T) {
	r := mustNew(t, Options{})
	for _, s := range append(everyPage, passwordPages()...) {
		t.Run(s.name, func(t *testing.T) {
			p, err := s.page(r)
			doc := mustParse(t, p, err)
			one(t, doc, "main")
			one(t, doc, "h1")
			if one(t, doc, "title").words() == "" {
				t.Error("no title")
			}
			if got := one(t, doc, "html").attrs[0]; got != (attr{"lang", "en"}) {
				t.Errorf("first attribute of html is %v", got)
			}
			if got := one(t, doc, "body").attrs; !slices.Equal(got, []attr{{"class", "__next-auth-theme-auto"}}) {
				t.Errorf("body has %v", got)
			}
			if imgs := doc.all("img"); len(imgs) != 0 {
				t.Error("an image without a logo")
			}
			checkControls(t, doc)
		})
	}
}

// F-097: pages about passwords, codes, factors and invitations have labels, say what is
// wrong beside the field, run no script, and tell no other site the secret of a link.
func TestPagesOfProofs(t *testing.T) {
	r := mustNew(t, Options{Theme: Theme{Logo: "https://cdn.example/logo.svg", Name: "Shop"}})
	password := func(v Password) func() (Page, error) {
		v.CSRFToken, v.Action, v.Host, v.MinLength = "c5f", "/auth/password?do="+string(v.Step), "shop.example", 8
		return func() (Page, error) { return r.Password(v) }
	}
	for _, c := range []struct {
		name   string
		page   func() (Page, error)
		secret bool   // its URL has one
		wrong  string // the field that is wrong
		has    string
	}{
		{"a reset with a code", password(Password{Step: ResetStep, Email: "ann@example.com", Code: true}), true, "", "one-time-code"},
		{"a wrong code", password(Password{Step: ResetStep, Email: "ann@example.com", Code: true, Error: "factor"}), true, "code", "one-time-code"},
		{"a weak password", password(Password{Step: SignUpStep, Email: "ann@example.com", Error: "short"}), false, "password", "new-password"},
		{"a wrong current password", password(Password{Step: ChangeStep, Email: "ann@example.com", Current: true, Error: "wrong"}), false, "current", "current-password"},
		{"R-769 an unknown fault of a form without a password", password(Password{Step: ForgotStep, Error: "unheard"}), false, "email", "username"},
		{"R-769 an unknown fault of a new address", password(Password{Step: AddressStep, Current: true, Error: "unheard"}), false, "current", "current-password"},
		{"an invited user chooses a password", password(Password{Step: VerifyStep, Email: "ann@example.com", New: true, Invited: true}), true, "", "The invitation is for"},
		{"an invitation", func() (Page, error) {
			return r.Invite(Invite{CSRFToken: "c5f", Action: "/auth/invite?token=70ken", Email: "ann@example.com", Host: "shop.example"})
		}, true, "", "ann@example.com"},
		{"an invitation for another user", func() (Page, error) {
			return r.Invite(Invite{CSRFToken: "c5f", Email: "ann@example.com", Host: "shop.example", As: "bob@example.com", SignOutURL: "/auth/signout"})
		}, true, "", "/auth/signout"},
		{"an invitation that is gone", func() (Page, error) { return r.Invite(Invite{Gone: true, Host: "shop.example"}) }, true, "", "no longer valid"},
		{"a mail with a code", func() (Page, error) {
			return r.VerifyRequest(VerifyRequest{CSRFToken: "c5f", Host: "shop.example", Email: "ann@example.com", About: "signup", CodeAction: "/auth/password?do=verify", CodeDigits: 8, CodeWrong: true})
		}, false, "code", "one-time-code"},
		{"a second factor", func() (Page, error) {
			return r.Factor(Factor{CSRFToken: "c5f", Action: "/auth/factor", CancelAction: "/auth/factor?do=cancel", Use: "totp", Host: "shop.example"})
		}, false, "", "one-time-code"},
	} {
		t.Run("F-097 "+c.name, func(t *testing.T) {
			p, err := c.page()
			doc := mustParse(t, p, err)
			checkControls(t, doc)
			if len(doc.all("script")) != 0 || !strings.Contains(string(p.Body), c.has) {
				t.Errorf("a script, or %q is missing: %s", c.has, p.Body)
			}
			if c.secret && (p.Referrer != noReferrer || strings.Contains(string(p.Body), "cdn.example")) {
				t.Errorf("the secret of the link leaves: referrer policy %q", p.Referrer)
			}
			for _, in := range doc.all("input") {
				if wrong := in.attr("aria-invalid") == "true"; wrong != (c.wrong != "" && in.attr("name") == c.wrong) {
					t.Errorf("the field %q is wrong: %t", in.attr("name"), wrong)
				} else if wrong && (in.attr("aria-describedby") == "" || !strings.Contains(string(p.Body), `role="alert"`)) {
					t.Errorf("nothing tells what is wrong with %q", in.attr("name"))
				}
			}
		})
	}
}

// checkControls: ids are unique, every visible input has its label, every form
// is posted with the CSRF token, and no element carries script or style.
func checkControls(t *testing.T, doc *node) {
	t.Helper()
	ids := map[string]bool{}
	labelled := map[string]bool{}
	for _, l := range doc.all("label") {
		labelled[l.attr("for")] = true
	}
	for _, in := range doc.all("input") {
		id := in.attr("id")
		if in.attr("type") == "hidden" {
			continue
		}
		if id == "" || ids[id] || !labelled[id] {
			t.Errorf("input %q: id %q is empty, doubled or without label", in.attr("name"), id)
		}
		ids[id] = true
	}
	for _, form := range doc.all("form") {
		first := form.all("input")[0]
		if form.attr("method") != "post" || first.attr("name") != "csrfToken" || first.attr("value") != "c5f" || first.attr("type") != "hidden" {
			t.Errorf("form to %q: method %q, first field %v", form.attr("action"), form.attr("method"), first.attrs)
		}
		for _, b := range form.all("button") {
			if b.attr("type") != "submit" || b.words() == "" {
				t.Errorf("form to %q: button %v", form.attr("action"), b.attrs)
			}
		}
	}
}

func TestErrorPage(t *testing.T) {
	r := mustNew(t, Options{})
	for _, test := range []struct {
		code    string
		status  int
		heading string
		says    string
		retry   bool
	}{
		{"Configuration", 500, "Server error", "problem with the server configuration", false},
		{"AccessDenied", 403, "Access denied", "do not have permission", true},
		{"Verification", 403, "Unable to sign in", "no longer valid", true},
		{"Verification", 403, "Unable to sign in", "used already or it may have expired", true},
		{"", 200, "Error", "shop.example", false},
		{"Default", 200, "Error", "shop.example", false},
		{"configuration", 200, "Error", "shop.example", false},
		{"constructor", 200, "Error", "shop.example", false},
		{"toString", 200, "Error", "shop.example", false},
		{"__proto__", 200, "Error", "shop.example", false},
	} {
		t.Run(test.code, func(t *testing.T) {
			p, err := r.Error(Error{Code: test.code, Host: "shop.example", Origin: "https://shop.example", SignInURL: "https://shop.example/auth/signin"})
			doc := mustParse(t, p, err)
			if p.Status != test.status {
				t.Errorf("status %d, want %d", p.Status, test.status)
			}
			if got := one(t, doc, "h1").words(); got != test.heading {
				t.Errorf("heading %q, want %q", got, test.heading)
			}
			if !strings.Contains(doc.words(), test.says) {
				t.Errorf("%q does not say %q", doc.words(), test.says)
			}
			var home, retry int
			for _, a := range doc.all("a") {
				switch {
				case a.attr("href") == "https://shop.example" && a.words() == "Back to shop.example":
					home++
				case a.attr("href") == "https://shop.example/auth/signin" && a.words() == "Sign in":
					retry++
				}
			}
			if home != 1 || (retry == 1) != test.retry {
				t.Errorf("%d links home, %d to sign in, want one: %v", home, retry, test.retry)
			}
		})
	}
}

// the page of what passes leads to the same page again, where there is one.
func TestAwayPage(t *testing.T) {
	r := mustNew(t, Options{})
	for _, again := range []string{"", "https://shop.example/cart?a=1"} {
		p, err := r.Problem(Problem{Kind: Away, Host: "shop.example", Origin: "https://shop.example", AgainURL: again})
		doc := mustParse(t, p, err)
		first := doc.all("a")[0]
		if p.Status != 503 || again != "" && (first.attr("href") != again || first.words() != "Try again") || again == "" && first.words() != "Back to shop.example" {
			t.Errorf("again at %q: status %d, %q", again, p.Status, doc.words())
		}
		if !strings.Contains(doc.words(), "Something is not answering at the moment.") || strings.Contains(doc.words(), "configuration") {
			t.Errorf("the page says %q", doc.words())
		}
	}
}

func TestSetHeaders(t *testing.T) {
	r := mustNew(t, Options{})
	for _, s := range everyPage {
		p, err := s.page(r)
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{"Cache-Control": {"public"}}
		p.SetHeaders(h)
		referrer := "same-origin"
		if s.name == "confirm" || s.name == "invite" || strings.HasPrefix(s.name, "lost-") {
			referrer = "no-referrer"
		}
		for name, want := range map[string]string{
			"Content-Type":               "text/html; charset=utf-8",
			"Content-Security-Policy":    p.Policy,
			"Referrer-Policy":            referrer,
			"Cache-Control":              "no-store",
			"X-Content-Type-Options":     "nosniff",
			"X-Frame-Options":            "DENY",
			"Cross-Origin-Opener-Policy": "same-origin-allow-popups",
		} {
			if got := h.Get(name); got != want || got == "" {
				t.Errorf("R-207 %s: %s is %q, want %q", s.name, name, got, want)
			}
		}
	}
}

func TestPagesAreIndependent(t *testing.T) {
	r := mustNew(t, Options{})
	first, err := r.SignOut(SignOut{CSRFToken: "first"})
	if err != nil {
		t.Fatal(err)
	}
	before := string(first.Body)
	if _, err := r.SignIn(someSignIn); err != nil {
		t.Fatal(err)
	}
	if string(first.Body) != before {
		t.Error("a page changed when another was rendered")
	}
}

func BenchmarkSignIn(b *testing.B) {
	r := mustNew(b, Options{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.SignIn(someSignIn); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkError(b *testing.B) {
	r := mustNew(b, Options{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Error(Error{Code: "AccessDenied"}); err != nil {
			b.Fatal(err)
		}
	}
}
