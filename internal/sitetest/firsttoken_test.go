package sitetest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// clients of Auth.js tell null from absent, so the first token does as
// well.
func TestFirstTokenSaysWhatWasSaid(t *testing.T) {
	stateless := func(c *latchkey.Config) {
		c.Adapter = nil
		c.Providers = slices.DeleteFunc(c.Providers, func(p latchkey.Provider) bool { _, mail := p.(*latchkey.Email); return mail })
	}
	pictureless := func(c *latchkey.Config) {
		stateless(c)
		withIssuer(func(p *latchkey.OAuth) {
			p.Identify = func(g latchkey.Grant) (latchkey.Identity, error) {
				return latchkey.Identity{Subject: g.Profile.String("sub"), Name: g.Profile.String("name"), WithoutImage: true}, nil
			}
		})(c)
	}
	for name, row := range map[string]struct {
		claims map[string]any
		setup  func(*latchkey.Config)
		want   string
	}{
		"all there":                    {map[string]any{"name": "Ada", "email": "ada@example.com", "picture": "https://img.example/a"}, stateless, `{"name":"Ada","email":"ada@example.com","image":"https://img.example/a"}`},
		"no picture":                   {map[string]any{"name": "Ada", "email": "ada@example.com"}, stateless, `{"name":"Ada","email":"ada@example.com"}`},
		"a picture that is null":       {map[string]any{"name": "Ada", "email": "ada@example.com", "picture": nil}, stateless, `{"name":"Ada","email":"ada@example.com","image":null}`},
		"a name that is empty":         {map[string]any{"name": "", "nickname": "ada", "email": "ada@example.com"}, stateless, `{"name":"","email":"ada@example.com"}`},
		"a name that is null":          {map[string]any{"name": nil, "nickname": "ada", "email": "ada@example.com"}, stateless, `{"name":"ada","email":"ada@example.com"}`},
		"no name of any kind":          {map[string]any{"email": "ada@example.com"}, stateless, `{"email":"ada@example.com"}`},
		"the last name is null":        {map[string]any{"preferred_username": nil, "email": "ada@example.com"}, stateless, `{"name":null,"email":"ada@example.com"}`},
		"an e-mail that is null":       {map[string]any{"name": "Ada", "email": nil}, stateless, `{"name":"Ada"}`},
		"no e-mail":                    {map[string]any{"name": "Ada"}, stateless, `{"name":"Ada"}`},
		"a provider without pictures":  {map[string]any{"name": "Ada"}, pictureless, `{"name":"Ada","image":null}`},
		"a user of a store knows null": {map[string]any{"name": "Ada"}, func(*latchkey.Config) {}, `{"name":"Ada","email":null,"image":null}`},
	} {
		t.Run("R-313 "+name, func(t *testing.T) {
			s := newOAuthSite(t, row.setup)
			s.issuer.SignInAs(latchkeytest.Person{Subject: "ada", Claims: row.claims})
			b := s.newBrowser()
			if a := b.callback("issuer", s.authResponse(b, "issuer")); !a.signsIn() {
				t.Fatalf("%d to %q\n%s", a.Code, a.location(), s.log.text())
			}
			var got struct{ User json.RawMessage }
			if err := json.Unmarshal(b.get("/auth/session").Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if string(got.User) != row.want {
				t.Errorf("%s, want %s", got.User, row.want)
			}
		})
	}
}

func TestFirstTokenOfCredentials(t *testing.T) {
	t.Run("R-313 what Authorize leaves empty is null", func(t *testing.T) {
		_, b := newEnteredSite(t)
		if got := b.get("/auth/session").Body.String(); !strings.Contains(got, `"user":{"name":"Alice","email":"alice@example.com","image":null}`) {
			t.Error(got)
		}
	})
}
