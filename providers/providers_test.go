package providers_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers"
	"github.com/latchkeyhq/latchkey/providers/profile"
)

// recorded is what a provider says about somebody, and what becomes of it.
type recorded struct {
	Profile  latchkey.Claims
	Params   map[string]string // of the callback
	Identity latchkey.Identity
}

func record(t *testing.T, id string) recorded {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + id + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var r recorded
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r recorded) query() url.Values {
	q := url.Values{}
	for name, value := range r.Params {
		q.Set(name, value)
	}
	return q
}

// catalogue is every provider with its profile type.
var catalogue = map[string]struct {
	provider func(latchkey.OAuth) *latchkey.OAuth
	typed    func(latchkey.Claims) (any, error)
}{
	"github":             {providers.GitHub, as[profile.GitHub]},
	"google":             {providers.Google, as[profile.Google]},
	"microsoft-entra-id": {providers.MicrosoftEntraID, as[profile.Entra]},
	"apple":              {providers.Apple, as[profile.Apple]},
	"tiktok":             {providers.TikTok, as[profile.TikTok]},
	"yandex":             {providers.Yandex, as[profile.Yandex]},
}

func as[T any](c latchkey.Claims) (any, error) { return latchkey.Decode[T](c) }

func TestIdentify(t *testing.T) {
	for id, entry := range catalogue {
		p := entry.provider(latchkey.OAuth{})
		if p.Identify == nil {
			continue // the library's own mapping; TestSignIn sees it
		}
		t.Run(id, func(t *testing.T) {
			r := record(t, id)
			before := fmt.Sprint(r.Profile)
			got, err := p.Identify(latchkey.Grant{Profile: r.Profile, Params: r.query()})
			if err != nil || fmt.Sprint(got) != fmt.Sprint(r.Identity) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, r.Identity)
			}
			if fmt.Sprint(r.Profile) != before {
				t.Error("the profile was changed")
			}
		})
		t.Run(id+" R-069 without an id", func(t *testing.T) {
			got, err := p.Identify(latchkey.Grant{Profile: latchkey.Claims{
				"login": "x", "username": "x", "email": "x@example.com", "preferred_username": "x", "name": "x", "display_name": "x",
			}})
			if err != nil || got.Subject != "" {
				t.Errorf("R-067 subject %q, %v", got.Subject, err)
			}
		})
		t.Run(id+" nothing at all", func(t *testing.T) {
			if got, err := p.Identify(latchkey.Grant{}); err != nil || got.Subject != "" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestFieldsOfAnotherTypeAreNamed(t *testing.T) {
	for id, field := range map[string]string{
		"github": "email", "microsoft-entra-id": "email", "apple": "email", "yandex": "default_email", "tiktok": "open_id",
	} {
		t.Run(id, func(t *testing.T) {
			r := record(t, id)
			if id == "tiktok" {
				user := r.Profile["data"].(map[string]any)["user"].(map[string]any)
				user[field] = []any{"x@example.com"}
			} else {
				r.Profile[field] = []any{"x@example.com"}
			}
			_, err := catalogue[id].provider(latchkey.OAuth{}).Identify(latchkey.Grant{Profile: r.Profile})
			if err == nil || !strings.Contains(err.Error(), field) || strings.Contains(err.Error(), "x@example.com") {
				t.Errorf("error %v, want one that names %q and repeats nothing", err, field)
			}
		})
	}
}

// TestProfileTypes holds that no recorded member is lost on the way through a
// profile type.
func TestProfileTypes(t *testing.T) {
	for id, entry := range catalogue {
		t.Run(id, func(t *testing.T) {
			profile := record(t, id).Profile
			typed, err := entry.typed(profile)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(typed)
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			d := json.NewDecoder(strings.NewReader(string(raw)))
			d.UseNumber()
			if err := d.Decode(&got); err != nil {
				t.Fatal(err)
			}
			compare(t, "", profile, got)
		})
	}
}

func compare(t *testing.T, path string, want, got map[string]any) {
	t.Helper()
	for name, value := range want {
		inner, nested := value.(map[string]any)
		gotInner, _ := got[name].(map[string]any)
		switch {
		case nested:
			compare(t, path+name+".", inner, gotInner)
		case value == nil:
		case name == "xms_edov", slices.Contains([]string{"email_verified", "is_private_email"}, name):
			if truth := fmt.Sprint(value) == "true"; got[name] != truth {
				t.Errorf("%s%s is %v, want %v", path, name, got[name], truth)
			}
		case name == "aud", name == "acrs":
			if fmt.Sprint(got[name]) != fmt.Sprintf("[%v]", value) {
				t.Errorf("%s%s is %v, want %v in a list", path, name, got[name], value)
			}
		case fmt.Sprint(got[name]) != fmt.Sprint(value):
			t.Errorf("%s%s is %v, want %v", path, name, got[name], value)
		}
	}
}

func TestCallerWins(t *testing.T) {
	for id, entry := range catalogue {
		t.Run(id, func(t *testing.T) {
			given := latchkey.OAuth{ID: "mine", Name: "Mine", Scopes: []string{"one"}, ClientAuth: latchkey.ClientSecretJWT, Style: latchkey.Style{Color: "red"}}
			p := entry.provider(given)
			if p.ID != "mine" || p.Name != "Mine" || len(p.Scopes) != 1 || p.ClientAuth != latchkey.ClientSecretJWT || p.Style.Color != "red" {
				t.Errorf("got %+v", p)
			}
			if d := entry.provider(latchkey.OAuth{}); d.ID != id || d.Name == "" || d.ClientID != "" || d.ClientSecret != "" || d.Style.Color == "" {
				t.Errorf("defaults %+v", d)
			}
		})
	}
}

func TestVerdicts(t *testing.T) {
	for id, want := range map[string]latchkey.EmailTrust{
		"github": latchkey.EmailProven, "google": latchkey.EmailProven, "apple": latchkey.EmailProven,
		"microsoft-entra-id": latchkey.EmailUnproven, "tiktok": latchkey.EmailUnproven, "yandex": latchkey.EmailTrustUnknown,
	} {
		if got := catalogue[id].provider(latchkey.OAuth{}).VerifiesEmail; got != want {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
}

// TestSignIn runs whole sign-ins against servers that answer what was recorded.
func TestSignIn(t *testing.T) {
	for id, paths := range map[string][2]string{
		"github": {"/login/oauth/access_token", "/user"},
		"tiktok": {"/v2/oauth/token/", "/v2/user/info/"},
		"yandex": {"/token", "/info"},
	} {
		t.Run(id, func(t *testing.T) {
			r := record(t, id)
			server := api{paths[0]: tokenAnswer, paths[1]: jsonOf(t, r.Profile)}.serve(t)
			s := newSite(t, server, catalogue[id].provider(latchkey.OAuth{}))
			s.comeBack(t, id)
			s.wants(t, r.Identity)
		})
	}
	for id, site := range map[string]string{"google": "https://accounts.google.com", "microsoft-entra-id": "https://login.microsoftonline.com"} {
		t.Run(id, func(t *testing.T) {
			r := record(t, id)
			iss := pretend(t, site, r, nil)
			s := newSite(t, iss.URL, catalogue[id].provider(latchkey.OAuth{ClientSecret: iss.Provider().ClientSecret}))
			s.goTo(iss, id)
			s.wants(t, r.Identity)
		})
	}
}
