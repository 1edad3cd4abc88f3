package providers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers/catalogue"
)

// authjsFile has the definitions of Auth.js. TestProvidersOfAuthJS of internal/interop
// writes it.
const authjsFile = "testdata/authjs/definitions.json"

// foreign is a definition of Auth.js. An empty endpoint is discovered, or there is none.
type foreign struct {
	Type, Issuer, Authorization, Token, UserInfo, Scope, ClientAuth string

	Params map[string]string
	Checks []string
	Person struct{ ID, Name, Email, Image string } // the members that each is read from, in braces

	RecordedID string // the id that it takes from the profile of the record
}

// foreigners returns the definitions of Auth.js, and its version.
func foreigners(t *testing.T) (version string, all map[string]foreign) {
	t.Helper()
	raw, err := os.ReadFile(authjsFile)
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Version   string
		Providers map[string]foreign
	}
	if err := json.Unmarshal(raw, &read); err != nil || len(read.Providers) < 80 {
		t.Fatalf("%d definitions of Auth.js, %v", len(read.Providers), err)
	}
	return read.Version, read.Providers
}

// difference is one thing in which two definitions of a provider differ.
type difference struct{ what, here, there string }

// differences compares a definition with that of Auth.js.
func (f *foreign) differences(p *latchkey.OAuth, r *recorded) (found []difference) {
	compare := func(what, here, there string) {
		if here != there {
			found = append(found, difference{what, here, there})
		}
	}
	kind := latchkey.TypeOAuth
	if p.OIDC {
		kind = latchkey.TypeOIDC
	}
	compare("type", string(kind), f.Type)
	compare("issuer", p.Issuer, f.Issuer)
	to, params := sentTo(p)
	compare("authorization", to, f.Authorization)
	compare("token", withoutQuery(p.Token.URL), f.Token)
	compare("userinfo", withoutQuery(p.UserInfo.URL), f.UserInfo)
	compare("scopes", sortedWords(scopesOf(p)), sortedWords(or(f.Scope, "none")))
	compare("parameters", shownParams(params, p.ClientIDParam), shownParams(f.Params, p.ClientIDParam))
	compare("checks", sortedWords(checksOf(p)), sortedWords(strings.Join(f.Checks, " ")))
	compare("client authentication", or(string(p.ClientAuth), string(latchkey.ClientSecretBasic)), f.ClientAuth)
	theirs := strings.Split(strings.Trim(f.Person.ID, "{}"), "|")
	if f.RecordedID != r.Identity.Subject && !slices.ContainsFunc(leaves(r.Profile), func(l leaf) bool {
		return slices.Contains(theirs, l.path) && textOf(l.value) == r.Identity.Subject
	}) {
		compare("id", r.idPath(), theirs[0])
	}
	if r.Identity.Email != "" && f.Person.Email == "" {
		compare("e-mail", "is taken", "")
	}
	if r.Identity.Image != "" && f.Person.Image == "" {
		compare("picture", "is taken", "")
	}
	return found
}

// sentTo returns where a browser is sent, and with which parameters beside those of the
// protocol.
func sentTo(p *latchkey.OAuth) (to string, params map[string]string) {
	params = map[string]string{}
	if u, err := url.Parse(p.Authorization.URL); err == nil {
		for name := range u.Query() {
			params[name] = u.Query().Get(name)
		}
	}
	for name := range p.Authorization.Params {
		params[name] = p.Authorization.Params.Get(name)
	}
	if p.ResponseMode != "" {
		params["response_mode"] = p.ResponseMode
	}
	return withoutQuery(p.Authorization.URL), params
}

// withoutQuery returns a URL without its query.
func withoutQuery(text string) string {
	text, _, _ = strings.Cut(text, "?")
	return text
}

// sortedWords returns words in one order, however they are separated. That there is
// nothing more beside others says nothing.
func sortedWords(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' })
	slices.Sort(words)
	if len(words) > 1 {
		words = slices.DeleteFunc(words, func(word string) bool { return word == "none" })
	}
	return strings.Join(words, " ")
}

// shownParams returns parameters as text, without those that every request has.
func shownParams(params map[string]string, clientID string) string {
	var shown []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if !slices.Contains([]string{"response_type", "client_id", "scope", clientID}, name) {
			shown = append(shown, name+"="+params[name])
		}
	}
	return strings.Join(shown, " ")
}

// foreignRows are the lines of the table of differences: one for each, one with the
// providers that are alike, and one with those that Auth.js lacks.
func foreignRows(t *testing.T, theirs map[string]foreign) (rows []string) {
	t.Helper()
	var alike, lacking []string
	all(t, func(t *testing.T, e catalogue.Entry, r recorded) {
		t.Helper()
		p := r.derived(t, e)
		id := "`" + p.ID + "`"
		f, both := theirs[p.ID]
		if !both {
			lacking = append(lacking, id)
			return
		}
		found := f.differences(p, &r)
		for _, d := range found {
			rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |\n", id, d.what, shownValue(d.here), shownValue(d.there)))
		}
		if len(found) == 0 {
			alike = append(alike, id)
		}
	})
	slices.Sort(alike)
	slices.Sort(lacking)
	return append(rows,
		fmt.Sprintf("| nothing differs: %s | | | |\n", strings.Join(alike, ", ")),
		fmt.Sprintf("| only here: %s | | | |\n", strings.Join(lacking, ", ")))
}

// shownValue returns a value for a cell of the table.
func shownValue(value string) string {
	if value == "" || value == "none" || value == "is taken" {
		return or(value, "none")
	}
	return "`" + value + "`"
}

// TestDefinitionsOfAuthJS is R-574: each way in which two definitions can differ is seen,
// and what differs by its order or by its separator alone is not. A provider that Auth.js
// has and the catalogue lacks is in the list of what is not there.
func TestDefinitionsOfAuthJS(t *testing.T) {
	_, theirs := foreigners(t)
	all(t, func(t *testing.T, e catalogue.Entry, r recorded) {
		t.Helper()
		delete(theirs, e.New(latchkey.OAuth{}).ID)
	})
	_, missing, found := strings.Cut(string(mustRead(t, pageName)), "## What is not there\n")
	for id := range theirs {
		if !found || !strings.Contains(missing, "(`"+id+"`)") {
			t.Errorf("R-574 Auth.js has %s: %s does not say why it is not there", id, pageName)
		}
	}
	alike := func() (*latchkey.OAuth, *foreign) {
		f := &foreign{
			Type: "oauth", Authorization: "https://a.example/authorize", Token: "https://a.example/token", UserInfo: "https://a.example/me",
			Scope: "one,two", ClientAuth: "client_secret_basic", Params: map[string]string{"audience": "api", "response_type": "code"}, Checks: []string{"pkce"},
		}
		f.Person.ID, f.Person.Email, f.Person.Image = "{id}", "{email}", "{picture}"
		return &latchkey.OAuth{
			Authorization: latchkey.Endpoint{URL: f.Authorization + "?audience=api"}, Token: latchkey.Endpoint{URL: f.Token},
			UserInfo: latchkey.Endpoint{URL: f.UserInfo + "?fields=id"}, Scopes: []string{"two", "one"},
		}, f
	}
	for what, change := range map[string]func(*latchkey.OAuth, *foreign){
		"":              func(*latchkey.OAuth, *foreign) {},
		"type":          func(p *latchkey.OAuth, _ *foreign) { p.OIDC = true },
		"issuer":        func(_ *latchkey.OAuth, f *foreign) { f.Issuer = "https://a.example" },
		"authorization": func(p *latchkey.OAuth, _ *foreign) { p.Authorization.URL = "https://b.example/authorize?audience=api" },
		"token":         func(p *latchkey.OAuth, _ *foreign) { p.Token.URL = "" },
		"userinfo":      func(_ *latchkey.OAuth, f *foreign) { f.UserInfo = "https://a.example/user" },
		"scopes":        func(_ *latchkey.OAuth, f *foreign) { f.Scope = "one" },
		"parameters":    func(_ *latchkey.OAuth, f *foreign) { f.Params["audience"] = "other" },
		"checks": func(p *latchkey.OAuth, _ *foreign) {
			p.Checks = []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState}
		},
		"client authentication": func(p *latchkey.OAuth, _ *foreign) { p.ClientAuth = latchkey.ClientSecretPost },
		"id":                    func(_ *latchkey.OAuth, f *foreign) { f.Person.ID = "{name}" },
		"e-mail":                func(_ *latchkey.OAuth, f *foreign) { f.Person.Email = "" },
		"picture":               func(_ *latchkey.OAuth, f *foreign) { f.Person.Image = "" },
	} {
		t.Run("R-574 "+what, func(t *testing.T) {
			p, f := alike()
			change(p, f)
			r := &recorded{Profile: latchkey.Claims{"id": "1"}, Identity: latchkey.Identity{Subject: "1", Email: "a@example.com", Image: "https://a.example/p"}}
			var got []string
			for _, d := range f.differences(p, r) {
				got = append(got, d.what)
			}
			if strings.Join(got, ", ") != what {
				t.Errorf("found %q", got)
			}
		})
	}
}

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
