package page

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/words"
)

// someOwn has everything that the account page shows of the user.
var someOwn = Own{
	ProfileURL: "/auth/account?do=profile", Name: true, Image: true, ExportURL: "/auth/account?do=export", ActivityURL: "/auth/account?do=activity",
	Activity: []Happening{
		{Type: "sign_in", Provider: someProviders[0], Browser: "Firefox", System: "Linux", Time: time.Date(2026, 3, 1, 8, 30, 0, 0, time.UTC)},
		{Type: "sign_in", Failed: true, Provider: someProviders[3]},
		{Type: "user.updated", Support: true},
	},
}

// profilePages shows the pages below the account page with each of their texts.
func profilePages() (all []shown) {
	var list []Happening
	for key := range words.English() {
		if kind, is := strings.CutPrefix(key, "activity."); is {
			list = append(list, Happening{Type: kind})
		}
	}
	list = append(list, Happening{Type: "sign_in", Failed: true}, Happening{Type: "password.set", Failed: true}, Happening{Type: "something.new"}, Happening{Type: "user.updated", Support: true})
	add := func(render func(*Renderer) (Page, error)) { all = append(all, shown{"frame", render}) }
	for _, l := range [][]Happening{nil, list} {
		add(func(r *Renderer) (Page, error) {
			return r.Activity(Activity{BackURL: "/auth/account", Host: "shop.example", List: l})
		})
	}
	for _, wrong := range []bool{false, true} {
		field := ProfileField{Value: "~", Was: "~", Wrong: wrong}
		add(func(r *Renderer) (Page, error) {
			return r.Profile(Profile{CSRFToken: "c5f", Action: "/auth/account?do=profile", BackURL: "/auth/account", Host: "shop.example", Name: &field, Image: &field})
		})
		add(func(r *Renderer) (Page, error) {
			return r.Export(Export{CSRFToken: "c5f", Action: "/auth/account?do=export", BackURL: "/auth/account", Host: "shop.example", Wait: wrong})
		})
	}
	all = append(all, shown{"account", func(r *Renderer) (Page, error) {
		return r.Account(Account{Own: Own{ProfileURL: "/", Name: true, ActivityURL: "/"}, PasswordURL: "/", AddressURL: "/", Notice: "profile"})
	}})
	return append(all, shown{"reauth", func(r *Renderer) (Page, error) { return r.Reauth(Reauth{Exports: true}) }})
}

// A field that cannot be stored comes back with what was typed; title and field say what
// is wrong.
func TestProfileSaysWhatIsWrong(t *testing.T) {
	r := mustNew(t, Options{})
	v := Profile{Action: "/p", BackURL: "/", Host: "shop.example", Name: &ProfileField{Value: "Ada", Was: "Eva"}, Image: &ProfileField{Value: "javascript:x", Was: "old", Wrong: true}}
	p, err := r.Profile(v)
	doc := mustParse(t, p, err)
	if p.Status != http.StatusUnprocessableEntity || !strings.HasPrefix(one(t, doc, "title").words(), "Not saved: Profile") {
		t.Errorf("status %d, title %q", p.Status, one(t, doc, "title").words())
	}
	for _, want := range []string{`name="was-name" value="Eva"`, `name="name" value="Ada"`, `name="image" value="javascript:x"`, `aria-invalid="true"`, "begins with https://"} {
		if !strings.Contains(string(p.Body), want) {
			t.Errorf("the page lacks %s:\n%s", want, p.Body)
		}
	}
	if strings.Contains(string(p.Body), "<script") {
		t.Error("the form has a script")
	}
}

func TestAccountNamesTheHostOfAPicture(t *testing.T) {
	p, err := mustNew(t, Options{}).Account(Account{Image: "https://pictures.example/a.png?secret", Own: Own{ProfileURL: "/p", Image: true}})
	mustParse(t, p, err)
	if body := string(p.Body); !strings.Contains(body, "<bdi>pictures.example</bdi>") || strings.Contains(body, "secret") || strings.Contains(body, "<img") {
		t.Errorf("%s", body)
	}
}
