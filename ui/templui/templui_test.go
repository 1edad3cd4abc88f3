package templui_test

import (
	"context"
	"html"
	"html/template"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/ui"
	"github.com/latchkeyhq/latchkey/ui/templui"
)

// forms are those of a page on which everything there is to show is shown.
func forms() *latchkey.Forms {
	return &latchkey.Forms{
		Script: "/auth/client/passkeys.js", CSRFToken: "token", RedirectTo: "https://app.example/here?a=1&b=<2>", SignInURL: "https://app.example/auth/signin?callbackUrl=x",
		SignOutURL: "https://app.example/auth/signout", AccountURL: "https://app.example/auth/account", Error: `Wrong "here"`,
		Session: &latchkey.Session{User: latchkey.SessionUser{Name: "Ada <Lovelace>", Email: "ada@example.com", Image: "data:image/png;base64,aGVsbG8="}, Expires: time.Unix(1, 0)},
		Text: func(key string, values ...string) string {
			return strings.Join(append([]string{key}, values...), " & ")
		},
		SignIn: []latchkey.SignInForm{
			{Provider: "github", Type: latchkey.TypeOAuth, Name: "GitHub", Submit: "Sign in with GitHub", Action: "https://app.example/auth/signin/github", Icon: `<svg class="latchkey-icon"><path d="M0 0"/></svg>`},
			{Provider: "key", Type: latchkey.TypeWebAuthn, Submit: "Passkey", Register: "New & named", Action: "https://app.example/auth/callback/key", Fields: []latchkey.FormField{
				{Field: latchkey.Field{Name: "email", Label: "E-mail", Type: "email", Autocomplete: "username webauthn", Placeholder: "you@example.com"}, Verbatim: true},
			}},
			{Provider: "password", Type: latchkey.TypeCredentials, Submit: "Go", Action: "https://app.example/auth/callback/password", Error: "Not <right>", Fields: []latchkey.FormField{
				{Field: latchkey.Field{Name: "name", Label: "Name & more", Type: "text", Value: `"quoted"`, Required: true}, Invalid: true},
				{Field: latchkey.Field{Name: "password", Label: "Password", Type: "password"}, Invalid: true, Focus: true},
				{Field: latchkey.Field{Name: "keep", Label: "Keep", Type: "checkbox", Value: "yes", Required: true}},
				{Field: latchkey.Field{Name: "from", Type: "hidden", Value: "web"}},
			}},
		},
	}
}

func rendered(t *testing.T, c templ.Component, children ...templ.Component) string {
	t.Helper()
	ctx := context.Background()
	for _, child := range children {
		ctx = templ.WithChildren(ctx, child)
	}
	var b strings.Builder
	if err := c.Render(ctx, &b); err != nil {
		t.Fatal(err)
	}
	return plain(b.String())
}

var space = regexp.MustCompile(`\s+<`)

// plain is HTML without the spaces between elements, in one spelling.
func plain(made string) string { return html.UnescapeString(space.ReplaceAllString(made, "<")) }

// Both packages make the same HTML.
func TestSameAsHTMLTemplate(t *testing.T) {
	stranger := forms()
	stranger.Session, stranger.Error = nil, ""
	for name, f := range map[string]*latchkey.Forms{"a member": forms(), "a stranger": stranger, "a site without providers": {Text: stranger.Text}} {
		page := func() *ui.Page { return ui.From(f) }
		same := func(what string, c templ.Component, made template.HTML, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := rendered(t, c), plain(string(made)); got != want {
				t.Errorf("%s, %s:\ntempl    %s\ntemplate %s", name, what, got, want)
			}
		}
		made, err := page().SignInBox("signInPage", "/login", "class", "wide")
		same("box with an action", templui.SignInBox(page(), ui.BoxProps{SignInPage: "/login", Class: "wide"}), made, err)
		made, err = page().SignInBox()
		same("box", templui.SignInBox(page(), ui.BoxProps{}), made, err)
		made, err = page().UserButton("accountURL", "/settings")
		same("user", templui.UserButton(page(), ui.UserProps{AccountURL: "/settings"}), made, err)
		made, err = page().SignOut("redirectTo", "/bye", "submitButton", "Bye")
		same("sign-out", templui.SignOut(page(), ui.SignOutProps{RedirectTo: "/bye", SubmitButton: "Bye"}), made, err)
		made, err = page().Script()
		same("script", templui.Script(page()), made, err)
		made, err = page().SignIn("")
		same("no provider", templui.SignIn(page(), ui.SignInProps{}), made, err)
		if len(f.SignIn) == 0 {
			continue
		}
		made, err = page().SignIn("github", "authorizationParams-prompt", "login", "options-x", "y")
		same("github", templui.SignIn(page(), ui.SignInProps{Provider: "github", AuthorizationParams: map[string]string{"prompt": "login"}, Options: map[string]string{"x": "y"}}), made, err)
	}
}

func TestSlot(t *testing.T) {
	own := templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, `<button class="own">Go</button>`)
		return err
	})
	for name, c := range map[string]templ.Component{
		"sign-in":  templui.SignIn(ui.From(forms()), ui.SignInProps{Provider: "github"}),
		"sign-out": templui.SignOut(ui.From(forms()), ui.SignOutProps{}),
	} {
		if got := rendered(t, c, own); !strings.Contains(got, `<button class="own">Go</button></form>`) || strings.Count(got, "<button") != 1 {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := rendered(t, templui.SignInBox(ui.From(forms()), ui.BoxProps{}), own); strings.Contains(got, `class="own"`) {
		t.Errorf("a box has children: %s", got)
	}
}

func TestUnknownProvider(t *testing.T) {
	err := templui.SignIn(ui.From(forms()), ui.SignInProps{Provider: "githb"}).Render(context.Background(), io.Discard)
	if err == nil || !strings.Contains(err.Error(), `"githb"`) {
		t.Error(err)
	}
}
