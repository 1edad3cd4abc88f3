package ui_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/ui"
)

// newAuth is a site with each kind of provider that needs no other module.
func newAuth(t *testing.T, issuer *latchkeytest.Issuer, box *latchkeytest.Mailbox) *latchkey.Auth {
	t.Helper()
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{TrustHost: true}, Secrets: []string{"a secret for tests that is long enough"},
		Adapter:     memoryadapter.New(memoryadapter.Options{}),
		Session:     latchkey.SessionConfig{Strategy: latchkey.JWTSessions},
		AccountPage: latchkey.AccountPage{Enabled: true},
		Providers: []latchkey.Provider{
			issuer.Provider(),
			&latchkey.Email{Send: box.Send},
			&latchkey.Credentials{
				Name:   "password",
				Fields: []latchkey.Field{{Name: "name"}, {Name: "password", Type: "password"}, {Name: "keep", Type: "checkbox", Label: "Remember"}, {Name: "from", Type: "hidden", Value: "web"}},
				Authorize: func(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
					if typed["name"] != "ada" || typed["password"] != "lovelace" || typed["from"] == "" {
						return latchkey.User{}, latchkey.ErrCredentialsSignin
					}
					return latchkey.User{ID: "1", Name: "Ada <Lovelace>", Email: "ada@example.com", Image: typed["image"]}, nil
				},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

// pages are the components, at paths of their own, and what their forms post to.
func pages(t *testing.T, auth *latchkey.Auth) http.Handler {
	t.Helper()
	site := http.NewServeMux()
	show := func(source string) http.Handler {
		page := template.Must(template.New("page").Parse(`<!doctype html><html lang="{{.UI.Language}}" dir="{{.UI.Direction}}"><title>x</title><body>` + source))
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			parts, err := ui.New(auth, w, r)
			if err != nil {
				t.Error(err)
				return
			}
			w.WriteHeader(parts.Status())
			if err := page.Execute(w, map[string]any{"UI": parts}); err != nil {
				t.Error(err)
			}
		})
	}
	home := show(`{{.UI.UserButton}}{{with .UI.Session}}Hello, {{.User.Name}}{{end}}`)
	site.Handle("GET /", home)
	site.Handle("GET /one", show(`{{.UI.SignIn "issuer" "redirectTo" "/shop" "authorizationParams-prompt" "login" "class" "wide"}}`))
	site.Handle("GET /choose", show(`{{.UI.SignIn "" "redirectTo" "/shop"}}`))
	site.Handle("GET /out", show(`{{.UI.SignOut "redirectTo" "/" "submitButton" "Bye"}}`))
	site.Handle("GET /slots", show(`{{with .UI.SignInSlot "email" "options-email" "ada@example.com"}}{{.Open}}<button class="own">Go</button>{{.Close}}{{end}}{{with .UI.SignOutSlot "signOutPage" "/signout"}}{{.Open}}<button>Out</button>{{.Close}}{{end}}`))
	site.Handle("GET /box", show(`{{.UI.SignInBox}}`))
	login := show(`{{.UI.SignInBox "signInPage" "/login"}}`)
	site.Handle("GET /login", login)
	site.Handle("POST /login", auth.SignInAction(login))
	site.Handle("POST /signout", auth.SignOutAction(home))
	site.Handle("GET /style.css", ui.Stylesheet())
	return auth.Middleware(site)
}

func open(t *testing.T) (*latchkeytest.Client, *latchkeytest.Issuer, *latchkeytest.Mailbox) {
	t.Helper()
	issuer, box := latchkeytest.NewIssuer(t), &latchkeytest.Mailbox{}
	return latchkeytest.NewClient(t, pages(t, newAuth(t, issuer, box))), issuer, box
}

var (
	formOf  = regexp.MustCompile(`(?s)<form class="([^"]*)" method="(\w+)" action="([^"]*)"[^>]*>(.*?)</form>`)
	inputOf = regexp.MustCompile(`<input type="(\w+)"[^>]* name="([^"]*)" value="([^"]*)"`)
)

// form is one of a page.
type form struct {
	class, method, action, inside string
	fields                        url.Values
}

func formsIn(t *testing.T, p *latchkeytest.Page) (all []form) {
	t.Helper()
	for _, m := range formOf.FindAllStringSubmatch(string(p.Body), -1) {
		f := form{m[1], m[2], strings.ReplaceAll(m[3], "&amp;", "&"), m[4], url.Values{}}
		for _, in := range inputOf.FindAllStringSubmatch(f.inside, -1) {
			f.fields.Set(in[2], strings.NewReplacer("&#43;", "+", "&amp;", "&").Replace(in[3]))
		}
		all = append(all, f)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no form: %s", p.URL, p.Body)
	}
	return all
}

func send(b *latchkeytest.Client, f form, more ...string) *latchkeytest.Page {
	for i := 0; i+1 < len(more); i += 2 {
		f.fields.Set(more[i], more[i+1])
	}
	if f.method == "get" {
		return b.Get(f.action + "?" + f.fields.Encode())
	}
	return b.Post(f.action, f.fields)
}

func says(t *testing.T, p *latchkeytest.Page, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(string(p.Body), text) {
			t.Errorf("%s (%d) does not say %s: %s", p.URL, p.Status, text, p.Body)
		}
	}
}

func TestSignIn(t *testing.T) {
	b, issuer, _ := open(t)
	issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada"})
	f := formsIn(t, b.Get("/one"))[0]
	if f.class != "latchkey-form wide" || !strings.Contains(f.inside, `<svg class="latchkey-icon"`) || !strings.Contains(f.inside, "Sign in with") {
		t.Errorf("%+v", f)
	}
	begun := send(b, f)
	if to := begun.Location(); to == nil || to.Query().Get("prompt") != "login" {
		t.Errorf("leads to %v", to)
	}
	done := b.Complete(begun)
	if to := done.Location(); to == nil || to.Path != "/shop" || b.Session() == nil {
		t.Errorf("ends at %v", to)
	}
}

func TestSignInChooses(t *testing.T) {
	b, _, _ := open(t)
	p := send(b, formsIn(t, b.Get("/choose"))[0])
	says(t, p, `name="callbackUrl" value="`+b.URL+`/shop"`, "Sign in with")
}

func TestSlots(t *testing.T) {
	b, _, box := open(t)
	forms := formsIn(t, b.Get("/slots"))
	if !strings.Contains(forms[0].inside, `<button class="own">Go</button>`) || strings.Count(forms[0].inside, "<button") != 1 {
		t.Errorf("%+v", forms[0])
	}
	send(b, forms[0])
	if len(box.Messages("ada@example.com")) != 1 {
		t.Error("no link was sent")
	}
	if forms[1].action != "/signout" || forms[1].fields.Get("redirectTo") != b.URL+"/slots" {
		t.Errorf("%+v", forms[1])
	}
}

// The box through its own action: refused, corrected, in; then out by the user
// button.
func TestBoxAndUserButton(t *testing.T) {
	b, _, _ := open(t)
	page := b.Get("/login?callbackUrl=/shop")
	says(t, page, `<p class="latchkey-or">or</p>`, `autocomplete="current-password"`, `<label for="latchkey-`, `type="checkbox"`, `autocomplete="email"`)
	f := formsIn(t, page)[2]
	if f.action != "/login" || f.fields.Get("providerId") != "credentials" || f.fields.Get("from") != "web" {
		t.Fatalf("%+v", f)
	}
	refused := send(b, f, "name", "ada", "password", "byron")
	says(t, refused, `role="alert"`, "That is not right.", `value="ada"`, `aria-invalid="true" aria-describedby="latchkey-`)
	if refused.Status != http.StatusForbidden || strings.Contains(string(refused.Body), "byron") {
		t.Errorf("R-327: %d %s", refused.Status, refused.Body)
	}
	f = formsIn(t, refused)[2]
	in := send(b, f, "name", "ada", "password", "lovelace", "image", "https://pictures.example/ada.png")
	if to := in.Location(); to == nil || to.Path != "/shop" {
		t.Fatalf("ends at %v: %s", to, in.Body)
	}
	home := b.Get("/")
	says(t, home, "Hello, Ada &lt;Lovelace&gt;", `<span class="latchkey-name">Ada &lt;Lovelace&gt;</span>`, `href="`+b.URL+`/auth/account"`, "ada@example.com", `<img src="https://pictures.example/ada.png" alt="" referrerpolicy="no-referrer">`)
	says(t, b.Get("/box"), "You are signed in as ada@example.com.")
	out := send(b, formsIn(t, home)[0])
	if to := out.Location(); to == nil || to.Path != "/" || b.Session() != nil {
		t.Errorf("ends at %v", to)
	}
	says(t, b.Get("/"), `<a class="latchkey-button latchkey-primary" href="`+b.URL+`/auth/signin?callbackUrl=`)
}

func TestBoxPostsToTheRoutes(t *testing.T) {
	b, _, _ := open(t)
	f := formsIn(t, b.Get("/box"))[2]
	in := send(b, f, "name", "ada", "password", "lovelace")
	if to := in.Location(); f.action != b.URL+"/auth/callback/credentials" || to == nil || to.Path != "/box" || b.Session() == nil {
		t.Errorf("%s ends at %v", f.action, to)
	}
}

func TestSignOut(t *testing.T) {
	b, _, _ := open(t)
	b.SignInCredentials(map[string]string{"name": "ada", "password": "lovelace", "from": "test"})
	f := formsIn(t, b.Get("/out"))[0]
	if !strings.Contains(f.inside, "<span>Bye</span>") {
		t.Errorf("%+v", f)
	}
	if to := send(b, f).Location(); to == nil || to.Path != "/" || b.Session() != nil {
		t.Errorf("ends at %v", to)
	}
}

// A picture is one, and nothing that a provider says becomes markup.
func TestPictures(t *testing.T) {
	for image, shown := range map[string]bool{
		"https://pictures.example/a.png": true, "data:image/png;base64,aGVsbG8=": true, "data:image/svg+xml;base64,aGVsbG8=": false,
		"javascript:alert(1)": false, "data:text/html,x": false, "": false,
	} {
		s := &latchkey.Session{User: latchkey.SessionUser{Name: `"><script>`, Image: image}, Expires: time.Now()}
		u := ui.From(&latchkey.Forms{Session: s, Text: func(key string, _ ...string) string { return key }}).User(ui.UserProps{})
		if (u.Image == image) != shown && image != "" || u.Initial != "S" {
			t.Errorf("R-203 %s: %+v", image, u)
		}
	}
}

func TestScriptOnlyForPasskeys(t *testing.T) {
	for url, want := range map[string]string{"": "", "/auth/client/passkeys.js": `<script type="module" src="/auth/client/passkeys.js"></script>`} {
		if got, err := ui.From(&latchkey.Forms{Script: url}).Script(); string(got) != want || err != nil {
			t.Errorf("%q: %s, %v", url, got, err)
		}
	}
}

func TestR393TokensAreNotPrinted(t *testing.T) {
	p := ui.From(&latchkey.Forms{CSRFToken: "the token", Text: func(key string, _ ...string) string { return key }})
	f := p.SignOutForm(ui.SignOutProps{})
	text, _ := json.Marshal([]any{f, p})
	if said := fmt.Sprintf("%+v %v %+v %s", f, f.Hidden, p, text); strings.Contains(said, "the token") {
		t.Error(said)
	}
}

func TestMistakesOfTemplates(t *testing.T) {
	p := ui.From(&latchkey.Forms{Text: func(key string, _ ...string) string { return key }})
	for _, c := range []struct {
		name string
		err  func() error
		says string
	}{
		{"an unknown provider", func() error { _, err := p.SignIn("githb"); return err }, `"githb"`},
		{"an unknown property", func() error { _, err := p.SignOut("redirect", "/"); return err }, `"redirect"`},
		{"a property without a value", func() error { _, err := p.SignInBox("redirectTo"); return err }, "in turn"},
		{"a property of another component", func() error { _, err := p.UserButton("signInPage", "/"); return err }, `"signInPage"`},
		{"options without a name", func() error { _, err := p.SignInSlot("", "options-", "x"); return err }, `"options-"`},
	} {
		if err := c.err(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A strict policy lets everything be.
func TestNothingInline(t *testing.T) {
	b, _, _ := open(t)
	b.SignInCredentials(map[string]string{"name": "ada", "password": "lovelace", "from": "test"})
	for _, path := range []string{"/", "/one", "/box", "/login?error=CredentialsSignin", "/slots", "/out"} {
		body := string(b.Get(path).Body)
		for _, inline := range []string{"<script", "<style", " style=", " on", "javascript:"} {
			if i := strings.Index(body, inline); i >= 0 && !strings.HasPrefix(body[i:], " one") {
				t.Errorf("R-206 %s has %q: %s", path, inline, body)
			}
		}
	}
	css := b.Get("/style.css")
	if css.Status != http.StatusOK || css.Header.Get("Content-Type") != "text/css; charset=utf-8" || string(css.Body) != ui.CSS() || css.Header.Get("Etag") == "" {
		t.Errorf("%d %v", css.Status, css.Header)
	}
}
