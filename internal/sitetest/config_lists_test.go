package sitetest

import (
	"context"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
)

// given are the lists and maps of an application's configuration, with their fields.
type given map[uintptr]string

// fill makes each empty list and map in v, and remembers it. A value of type url.Values
// gets a parameter.
func (g given) fill(field string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for f, part := range v.Fields() {
			if f.IsExported() {
				g.fill(field+"."+f.Name, part)
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 1))
		}
		g[v.Pointer()] = field
	case reflect.Map:
		if params, ok := v.Addr().Interface().(*url.Values); ok {
			*params = url.Values{"lang": {"en"}}
			g[reflect.ValueOf((*params)["lang"]).Pointer()] = field + "[lang]"
		} else if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		g[v.Pointer()] = field
	}
}

// place is a value on the way through a setup.
type place struct {
	at uintptr
	of reflect.Type
}

// find reports each list and map of g that v holds, at any depth. It looks into no type
// of other modules, and into no function.
func (g given) find(t *testing.T, path string, v reflect.Value, seen map[place]bool) {
	if pkg := v.Type().PkgPath(); v.Kind() == reflect.Struct && pkg != "" && !strings.HasPrefix(pkg, "github.com/latchkeyhq/latchkey") && pkg != "sync/atomic" {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() || seen[place{v.Pointer(), v.Type()}] {
			return
		}
		seen[place{v.Pointer(), v.Type()}] = true
		if field, is := g[v.Pointer()]; is && (v.Kind() == reflect.Map || v.Kind() == reflect.Slice && v.Cap() > 0) {
			t.Errorf("R-244: %s is shared with the application, as %s", field, path)
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			g.find(t, path, v.Elem(), seen)
		}
	case reflect.Struct:
		for f, part := range v.Fields() {
			g.find(t, path+"."+f.Name, part, seen)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			g.find(t, path+"[]", v.Index(i), seen)
		}
	case reflect.Map:
		for _, part := range v.Seq2() {
			g.find(t, path+"[]", part, seen)
		}
	}
}

// TestConfigSharesNoListOrMap is R-244 for fields that are still to come, too: New copies
// each list and map of a Config and of its providers.
func TestConfigSharesNoListOrMap(t *testing.T) {
	hasher := &plainHasher{}
	acme := &latchkey.OAuth{
		ID: "acme", ClientID: "latchkey", ClientSecret: "x", Authorization: latchkey.Endpoint{URL: "https://acme.example/authorize"},
		Token: latchkey.Endpoint{URL: "https://acme.example/token"}, UserInfo: latchkey.Endpoint{URL: "https://acme.example/userinfo"},
		Revocation: latchkey.Endpoint{URL: "https://acme.example/revoke"}, Logout: latchkey.Logout{EndSession: latchkey.Endpoint{URL: "https://acme.example/end"}},
	}
	c := latchkey.Config{
		Secrets: []string{siteSecret}, Adapter: memoryadapter.New(memoryadapter.Options{}), Runtime: latchkey.Runtime{Logger: (&logBuffer{}).logger()},
		Site: latchkey.Site{AllowedHosts: []string{"app.example"}},
		Providers: []latchkey.Provider{
			acme, &latchkey.Password{Hasher: hasher, Weakness: weakness, MinLength: 8}, &latchkey.WebAuthn{ID: "passkey", Ceremony: anyCeremony{}, Fields: []latchkey.Field{{Name: "email", Type: "email", Autocomplete: "webauthn"}}},
			&latchkey.Email{Send: func(context.Context, latchkey.Message) error { return nil }},
			&latchkey.Credentials{ID: "crew", AccountField: "name", Authorize: func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) {
				return latchkey.User{}, nil
			}},
		},
	}
	all, seen := given{}, map[place]bool{}
	all.fill("Config", reflect.ValueOf(&c).Elem())
	for _, p := range c.Providers { // which the Config holds, and which New copies
		v := reflect.ValueOf(p)
		all.fill(v.Elem().Type().Name(), v.Elem())
		seen[place{v.Pointer(), v.Type()}] = true
	}
	auth, err := latchkey.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 30 {
		t.Fatalf("filled %d lists and maps only: %v", len(all), all)
	}
	all.find(t, "Auth", reflect.ValueOf(auth), seen)
	if len(seen) < 200 {
		t.Errorf("looked at %d places only", len(seen))
	}
}
