package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSignInForms(t *testing.T) {
	p, err := mustNew(t, Options{}).SignIn(someSignIn)
	doc := mustParse(t, p, err)
	forms := doc.all("form")
	if len(forms) != 4 { // a magic link and passkeys share one
		t.Fatalf("%d forms", len(forms))
	}
	for i, form := range forms {
		want := someProviders[i]
		button := form.all("button")[0]
		if got := cmp.Or(button.attr("formaction"), form.attr("action")); got != want.Action {
			t.Errorf("form %d goes to %q, want %q", i, got, want.Action)
		}
		if got := button.words(); !strings.HasSuffix(got, []string{"Sign in with GitHub", "Sign in with Test OP", "Sign in with Credentials", "Email me a link"}[i]) {
			t.Errorf("button %d says %q", i, got)
		}
		if back := form.all("input")[1]; back.attr("name") != "callbackUrl" || back.attr("value") != someSignIn.CallbackURL {
			t.Errorf("form %d: callbackUrl is %v", i, back.attrs)
		}
	}
}

func TestSignInErrors(t *testing.T) {
	r := mustNew(t, Options{})
	for _, test := range []struct {
		says  string
		codes []string
	}{
		{"different account", []string{"OAuthSignin", "OAuthCallbackError", "OAuthCreateAccount", "EmailCreateAccount", "Callback", "Signin"}},
		{"same account you used originally", []string{"OAuthAccountNotLinked"}},
		{"e-mail could not be sent", []string{"EmailSignin"}},
		{"check the details you provided", []string{"CredentialsSignin"}},
		{"sign in to access", []string{"SessionRequired"}},
		{"That passkey did not work", []string{"WebAuthnVerificationError"}},
		{"unable to sign in", []string{"MissingCSRF", "AccountNotLinked", "SomethingElse"}},
	} {
		for _, code := range test.codes {
			p, err := r.SignIn(SignIn{Error: code})
			doc := mustParse(t, p, err)
			alert := doc.all("div")[0]
			if alert.attr("role") != "alert" || !strings.Contains(alert.words(), test.says) || p.Status != 200 {
				t.Errorf("%s: status %d, %q; want %q", code, p.Status, alert.words(), test.says)
			}
		}
	}
	p, err := r.SignIn(SignIn{})
	if doc := mustParse(t, p, err); strings.Contains(string(p.Body), `role="alert"`) {
		t.Errorf("an alert without an error: %q", doc.words())
	}
}

func TestProvidersAreGrouped(t *testing.T) {
	button := func(n int) []Provider { return slices.Repeat([]Provider{{ID: "a", Type: OAuth}}, n) }
	form := Provider{ID: "e", Type: Email}
	for name, test := range map[string]struct {
		providers []Provider
		groups    []string // class of each, and how many forms it has
	}{
		"none":                           {nil, nil},
		"one":                            {button(1), []string{"group 1"}},
		"two stand in two columns":       {button(2), []string{"group two 2"}},
		"unless a name is long":          {append(button(1), Provider{Name: "Microsoft Entra ID", Type: OIDC}), []string{"group 2"}},
		"six stand in two columns":       {button(6), []string{"group two 6"}},
		"seven share rows":               {button(7), []string{"group many 7"}},
		"twenty share rows":              {button(20), []string{"group many 20"}},
		"a form stands alone":            {[]Provider{form, form}, []string{"group 1", "group 1"}},
		"the order stays":                {append(append(button(2), form), button(1)...), []string{"group two 2", "group 1", "group 1"}},
		"credentials without fields":     {[]Provider{{ID: "c", Type: Credentials}, {ID: "a", Type: OIDC}}, []string{"group two 2"}},
		"fields of an OAuth type are no": {[]Provider{{ID: "a", Type: OAuth, Fields: []Field{{Name: "x"}}}}, []string{"group 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := mustNew(t, Options{}).SignIn(SignIn{Providers: test.providers})
			doc := mustParse(t, p, err)
			var got []string
			for _, div := range doc.all("div") {
				if class := div.attr("class"); strings.HasPrefix(class, "group") {
					got = append(got, fmt.Sprint(class, " ", len(div.all("form"))))
				}
			}
			if !slices.Equal(got, test.groups) {
				t.Errorf("groups %v, want %v", got, test.groups)
			}
		})
	}
}

func TestFields(t *testing.T) {
	for name, test := range map[string]struct {
		field    Field
		provider string
		want     map[string]string
	}{
		"a bare name":             {Field{Name: "pin"}, Credentials, map[string]string{"type": "text", "name": "pin", "autocomplete": ""}},
		"an unknown type":         {Field{Name: "x", Type: "file"}, Credentials, map[string]string{"type": "text"}},
		"no image buttons":        {Field{Name: "x", Type: "image"}, Credentials, map[string]string{"type": "text"}},
		"a user name":             {Field{Name: "Username"}, Credentials, map[string]string{"autocomplete": "username", "autocapitalize": "none"}},
		"a password":              {Field{Name: "x", Type: "password", Value: "v"}, Credentials, map[string]string{"autocomplete": "current-password", "value": ""}},
		"a one-time code":         {Field{Name: "otp"}, Credentials, map[string]string{"autocomplete": "one-time-code"}},
		"the operator knows best": {Field{Name: "otp", Autocomplete: "off"}, Credentials, map[string]string{"autocomplete": "off"}},
		"an e-mail is filled in":  {Field{Name: "mail", Type: "email"}, Credentials, map[string]string{"value": "me@example.com", "autocomplete": "username"}},
		"an only name":            {Field{Name: "name"}, Credentials, map[string]string{"autocomplete": "username", "autocapitalize": "none"}},
		"unless it has a value":   {Field{Name: "mail", Type: "email", Value: "you@example.com"}, Email, map[string]string{"value": "you@example.com"}},
		"a passkey's e-mail":      {Field{Name: "mail", Type: "email"}, WebAuthn, map[string]string{"autocomplete": "username webauthn"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := mustNew(t, Options{}).SignIn(SignIn{Email: "me@example.com", Providers: []Provider{{ID: "p", Type: test.provider, Fields: []Field{test.field}}}})
			input := mustParse(t, p, err).all("input")[1]
			for name, want := range test.want {
				if got := input.attr(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestMarks(t *testing.T) {
	for name, test := range map[string]struct {
		provider Provider
		want     string
	}{
		"by id":                    {Provider{ID: "google", Type: OIDC}, drawGoogle},
		"by a chosen name":         {Provider{ID: "acme", Icon: "github"}, drawGitHub},
		"by type":                  {Provider{ID: "postbox", Type: Email}, drawEnvelope},
		"an initial":               {Provider{ID: "acme", Name: "«acme»"}, ">A</text>"},
		"an initial of the id":     {Provider{ID: "zebra"}, ">Z</text>"},
		"nothing to begin with":    {Provider{Name: "<!>"}, ">•</text>"},
		"a mark":                   {Provider{ID: "acme", Type: OIDC, Brand: "#ffcc00", Mark: "M0 0h24"}, `fill="#ffcc00"/><path transform="translate(4 4)scale(.66667)" fill="#111318" d="M0 0h24"/>`},
		"an icon before a mark":    {Provider{ID: "github", Mark: "M0 0h24"}, drawGitHub},
		"a brand colour":           {Provider{ID: "acme", Brand: "#ffcc00"}, `fill="#ffcc00"/><text x="12" y="16.6" text-anchor="middle" fill="#111318"`},
		"a colour that is not one": {Provider{ID: "acme", Brand: `"><script>`}, `<rect width="24" height="24" rx="6" fill="#`},
	} {
		if got := string(mark(test.provider)); !strings.Contains(got, test.want) || strings.Contains(got, "<script") {
			t.Errorf("%s: %s", name, got)
		}
	}
	// R-441 nothing but path data is drawn
	for _, hostile := range append(corpus(t), `M0 0"/><script>`, "M0 0&quot;", "0 0h24", "M0 0;", "M"+strings.Repeat("0", longestMark)) {
		if got := string(mark(Provider{ID: "acme", Mark: hostile})); got != string(mark(Provider{ID: "acme"})) {
			t.Errorf("R-441 %q is drawn: %s", hostile, got)
		}
	}
	named, renamed := mark(Provider{ID: "acme", Name: "Ace"}), mark(Provider{ID: "acme", Name: "Acme"})
	if named != renamed {
		t.Error("a provider's tile changes its colour with its name")
	}
}

// TestSessionIsOver shows what the page says of a session that is over.
func TestSessionIsOver(t *testing.T) {
	for name, c := range map[string]struct {
		view SignIn
		want string
	}{
		"T-082 expired":                    {SignIn{Over: "expired"}, "Your session has expired."},
		"T-082 ended":                      {SignIn{Over: "ended"}, "Your session was ended."},
		"T-082 any other word":             {SignIn{Over: "<b>over"}, ""},
		"T-082 a failure says more":        {SignIn{Over: "ended", Error: "AccessDenied"}, ""},
		"T-082 the visitor is signed in":   {SignIn{Over: "ended", As: "ada"}, ""},
		"T-082 nothing, for a first visit": {SignIn{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustNew(t, Options{})
			p, err := r.SignIn(c.view)
			body := string(p.Body)
			if err != nil || c.want != "" && !strings.Contains(body, c.want) || c.want == "" && strings.Contains(body, "Your session") || strings.Contains(body, "<b>over") {
				t.Errorf("%v: %s", err, body)
			}
		})
	}
}
