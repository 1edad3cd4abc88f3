package interop

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// The site of docs/moving-from-authjs.md, after its move: its listings in Go.

// movedProvider is the provider object of authjs/moved.mjs, by the table of the page.
func movedProvider(iss *latchkeytest.Issuer) *latchkey.OAuth {
	p := iss.Provider()
	p.Name = "Acme"
	p.Checks = []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState, latchkey.CheckNonce}
	p.Authorization.Params = url.Values{"prompt": {"login"}, "audience": {"https://api.acme.example"}}
	p.Scopes = []string{"openid", "profile", "email", "offline_access"}
	p.Token = latchkey.Endpoint{URL: iss.URL + latchkeytest.PathToken}
	p.ProfileFromUserInfo = true
	p.FetchProfile = func(ctx context.Context, c *http.Client, t latchkey.Tokens) (latchkey.Claims, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, iss.URL+latchkeytest.PathUserInfo, nil)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Authorization", "Bearer "+t.AccessToken)
		res, err := c.Do(r)
		if err != nil {
			return nil, err
		}
		defer res.Body.Close()
		var profile latchkey.Claims
		err = json.NewDecoder(res.Body).Decode(&profile)
		return profile, err
	}
	return p
}

func movedAuthorized(_ *http.Request, s *latchkey.Session) error {
	switch {
	case s == nil:
		return latchkey.ErrNoSession
	case s.User.Extra.String("role") != "admin":
		return latchkey.ErrAccessDenied
	}
	return nil
}

func movedToken(_ context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) {
	if t.Account != nil {
		t.Claims["role"] = "reader"
		if t.Account.ProviderAccountID == "ada" {
			t.Claims["role"] = "admin"
		}
	}
	if sent, ok := t.Update.(map[string]any); ok {
		if name, ok := sent["name"].(string); ok {
			t.Claims["name"] = name
		}
	}
	return t.Claims, nil
}

func movedSession(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
	r.Session.User.Extra = latchkey.Claims{"id": r.Claims["sub"], "role": r.Claims["role"]}
	return r.Session, nil
}

func movedSite(t *testing.T, p latchkey.Provider) http.Handler {
	t.Helper()
	auth := newAuth(t, latchkey.Config{
		Site: latchkey.Site{BasePath: "/api/auth"}, Providers: []latchkey.Provider{p},
		Callbacks: latchkey.Callbacks{Token: movedToken, Session: movedSession},
	})
	pages := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("come in")) })
	guarded := auth.Authorize(movedAuthorized)(pages)
	return auth.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/admin") {
			guarded.ServeHTTP(w, r)
			return
		}
		pages.ServeHTTP(w, r)
	}))
}

// requested returns what a provider was asked for one sign-in, without what is random.
func requested(t *testing.T, iss *latchkeytest.Issuer, from map[string]int) (said map[string]any) {
	t.Helper()
	last := func(path string) latchkeytest.RecordedRequest {
		all := iss.Requests(path)
		if len(all) != from[path]+1 {
			t.Fatalf("%d requests to %s, want one", len(all)-from[path], path)
		}
		from[path]++
		return all[len(all)-1]
	}
	sent := last(latchkeytest.PathAuthorize).Query
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		if sent.Get(name) == "" {
			t.Errorf("no %s", name)
		}
		sent.Del(name)
	}
	token, me := last(latchkeytest.PathToken), last(latchkeytest.PathUserInfo)
	return map[string]any{
		"authorize": sent.Encode(), "token": slices.Sorted(maps.Keys(token.Form)), "client": token.Header.Get("Authorization"),
		"grant": token.Form.Get("grant_type"), "userinfo": strings.HasPrefix(me.Header.Get("Authorization"), "Bearer "),
	}
}

// TestMovedSite is R-565: the site of docs/moving-from-authjs.md runs with Auth.js, then
// with Latchkey, then with Auth.js again. A user who signed in before the move is signed
// in after it, with the same session. A provider is asked the same. Only the answer for a
// user who may not come in differs, as the page says: 403 in place of the sign-in page.
func TestMovedSite(t *testing.T) {
	iss := latchkeytest.NewIssuer(t)
	p := movedProvider(iss)
	theirs := startPeer(t, "authjs", "moved.mjs", string(asJSON(t, map[string]any{
		"secret": newSecret, "page": "../../../docs/moving-from-authjs.md", "provider": p.ID,
		"issuer": theirIssuer{URL: iss.URL, ID: p.ClientID, Secret: p.ClientSecret},
	}))).url()
	before, after := reverseProxy(t, theirs), movedSite(t, p)
	counted := map[string]int{}
	for name, role := range map[string]string{"ada": "admin", "bob": "reader"} {
		t.Run("R-565 "+role, func(t *testing.T) {
			iss.SignInAs(latchkeytest.Person{Subject: name, Name: name, Email: name + "@acme.example"})
			s := &switchingSite{sites: [2]http.Handler{before, after}}
			b := latchkeytest.NewClient(t, s)
			b.BasePath = "/api/auth"
			session := func() (now map[string]any) {
				ok(t, json.Unmarshal(b.Get("/api/auth/session").Body, &now))
				return now
			}
			b.SignIn(iss)
			request, was := requested(t, iss, counted), session()
			if user, _ := was["user"].(map[string]any); user["role"] != role || user["id"] == "" || user["name"] != name {
				t.Fatalf("before the move the session is %v", was)
			}
			came := b.Get("/admin").Status == http.StatusOK
			s.switchOver()
			sameJSON(t, session(), maps.Clone(was))
			if status := b.Get("/admin").Status; came != (role == "admin") || (status == http.StatusOK) != came || !came && status != http.StatusForbidden {
				t.Errorf("%s came in at /admin before the move: %t, after it the status is %d", name, came, status)
			}
			sent := map[string]any{"csrfToken": b.CSRFToken(), "data": map[string]any{"name": "Countess"}}
			b.Fetch(http.MethodPost, "/api/auth/session", sent, nil)
			renamed := session()
			if user, _ := renamed["user"].(map[string]any); user["name"] != "Countess" || user["role"] != role {
				t.Errorf("after an update the session is %v", renamed)
			}
			s.switchOver() // and back
			sameJSON(t, session(), renamed)
			s.switchOver()
			b.SignOut()
			b.SignIn(iss)
			sameJSON(t, requested(t, iss, counted), request)
		})
	}
}
