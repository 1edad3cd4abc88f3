package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// logoutClaims returns the claims of an honest logout token but for the changes.
func logoutClaims(issuer string, changes map[string]any) map[string]any {
	now := time.Now().Unix()
	claims := map[string]any{
		"iss": issuer, "aud": clientID, "iat": now, "exp": now + 120, "jti": "j1", "sub": "person-1", "sid": "session-1",
		"events": map[string]any{logoutEvent: map[string]any{}},
	}
	for name, value := range changes {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	return claims
}

func (f *fake) logoutToken(changes map[string]any) string {
	return sign(rsaKey(), jose.RS256, "k1", map[string]any{"typ": "logout+jwt"}, encode(logoutClaims(f.URL, changes)))
}

func TestLogoutTokenClaims(t *testing.T) {
	type claims = map[string]any
	f, now := newFake(t), time.Now().Unix()
	other := claims{"http://schemas.openid.net/event/other": claims{}}
	for _, row := range []struct {
		name    string
		changes claims
		undated bool
		want    string // of the error; empty: accepted
	}{
		{"honest", nil, false, ""},
		{"T-071 sid alone", claims{"sub": nil}, false, ""},
		{"T-072 sub alone", claims{"sid": nil}, false, ""},
		{"T-073 other iss", claims{"iss": "https://other.example"}, false, "iss"},
		{"T-073 no iss", claims{"iss": nil}, false, "iss"},
		{"T-073 other aud", claims{"aud": "other"}, false, "aud"},
		{"T-073 another party", claims{"azp": "other"}, false, "azp"},
		{"T-073 no event", claims{"events": nil}, false, "events"},
		{"T-073 other event", claims{"events": other}, false, "events"},
		{"T-073 event not an object", claims{"events": claims{logoutEvent: true}}, false, "events"},
		{"T-073 events a text", claims{"events": logoutEvent}, false, "events"},
		{"T-073 nonce", claims{"nonce": "n"}, false, "nonce"},
		{"T-073 nonce null", claims{"nonce": json.RawMessage("null")}, false, "nonce"},
		{"T-073 ID token instead", claims{"events": nil, "jti": nil, "nonce": "n"}, false, "jti"},
		{"T-074 no jti", claims{"jti": nil}, false, "jti"},
		{"T-074 jti a number", claims{"jti": 1}, false, "jti"},
		{"T-074 no iat", claims{"iat": nil}, false, "iat"},
		{"T-074 iat a text", claims{"iat": "1"}, false, "iat"},
		{"T-074 iat ten minutes ahead", claims{"iat": now + 600}, false, "future"},
		{"T-074 iat of two days ago", claims{"iat": now - 2*86400}, false, "old"},
		{"T-074 past exp", claims{"exp": now - 120}, false, "expired"},
		{"T-074 past exp with LegacyTokens", claims{"exp": now - 120}, true, "expired"},
		{"T-074 no exp", claims{"exp": nil}, false, "exp"},
		{"T-074 no exp with LegacyTokens", claims{"exp": nil}, true, ""},
		{"T-074 no exp with LegacyTokens, three minutes old", claims{"exp": nil, "iat": now - 180}, true, "old"},
		{"T-074 sub and sid both missing", claims{"sub": nil, "sid": nil}, false, "neither"},
		{"T-074 empty sid beside sub", claims{"sid": ""}, false, "sid"},
		{"T-074 sub a list", claims{"sub": []string{"a"}}, false, "sub"},
		{"T-074 long sid", claims{"sid": strings.Repeat("s", 256)}, false, "sid"},
	} {
		t.Run(row.name, func(t *testing.T) {
			changes := claims{"iat": now}
			maps.Copy(changes, row.changes)
			got, err := f.client(t).VerifyLogoutToken(t.Context(), f.logoutToken(changes), LogoutCheck{Undated: row.undated})
			if row.want != "" {
				wantStep(t, err, StepLogout, row.want)
				if got != nil {
					t.Errorf("got %+v beside the error", got)
				}
				return
			}
			if err != nil || got.ID != "j1" || got.Issuer != f.URL || got.Issued.Unix() != now {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestLogoutTokenForm(t *testing.T) {
	f := newFake(t)
	payload := encode(logoutClaims(f.URL, nil))
	header := func(h map[string]any) string { return sign(rsaKey(), jose.RS256, "k1", h, payload) }
	unsigned := func(h string) string { return b64([]byte(h)) + "." + b64(payload) + "." }
	long := logoutClaims(f.URL, map[string]any{"filler": strings.Repeat("x", maxTokenSize)})
	for _, row := range []struct {
		name, token, want string
		typed             bool
	}{
		{"logout+jwt", header(map[string]any{"typ": "logout+jwt"}), "", true},
		{"application/logout+jwt in capitals", header(map[string]any{"typ": "Application/Logout+JWT"}), "", true},
		{"JWT", header(map[string]any{"typ": "JWT"}), "", false},
		{"no typ", header(nil), "", false},
		{"T-073 JWT where Hardened", header(map[string]any{"typ": "JWT"}), "type", true},
		{"T-073 no typ where Hardened", header(nil), "type", true},
		{"T-073 access token", header(map[string]any{"typ": "at+jwt"}), "type", false},
		{"T-073 empty", "", "three parts", false},
		{"T-073 alg none", unsigned(`{"alg":"none"}`), "algorithm", false},
		{"T-073 wrong alg", sign([]byte(strings.Repeat("s", 32)), jose.HS256, "", nil, payload), "algorithm", false},
		{"T-073 bad signature", sign(otherKey(), jose.RS256, "k1", nil, payload), "signature", false},
		{"T-073 jwk", unsigned(`{"alg":"RS256","jwk":{}}`), "key of its own", false},
		{"T-073 jku", header(map[string]any{"jku": "https://op.example"}), "key of its own", false},
		{"T-073 x5u", header(map[string]any{"x5u": "https://op.example"}), "key of its own", false},
		{"T-073 crit", unsigned(`{"alg":"RS256","crit":["x"],"x":1}`), "extensions", false},
		{"T-073 repeated member", b64([]byte(`{"alg":"RS256"}`)) + "." + b64([]byte(`{"iss":"a","iss":"b"}`)) + ".AAAA", "repeated", false},
		{"T-136 five parts", "a.b.c.d.e", "encrypted", false},
		{"T-076 17 KiB", sign(rsaKey(), jose.RS256, "k1", nil, encode(long)), "too large", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := f.client(t).VerifyLogoutToken(t.Context(), row.token, LogoutCheck{Typed: row.typed})
			if row.want == "" && err != nil {
				t.Error(err)
			}
			if row.want != "" {
				wantStep(t, err, StepLogout, row.want)
			}
		})
	}
	t.Run("T-076 what is not for us costs no call", func(t *testing.T) {
		f := newFake(t)
		c := f.client(t)
		for _, token := range []string{
			"", "a.b.c", "a.b.c.d.e", f.logoutToken(map[string]any{"iss": "https://other.example"}), f.logoutToken(map[string]any{"aud": "other"}),
			sign(rsaKey(), jose.RS256, "k1", map[string]any{"typ": "at+jwt"}, payload),
		} {
			if _, err := c.VerifyLogoutToken(t.Context(), token, LogoutCheck{}); err == nil {
				t.Error("accepted")
			}
		}
		if n := f.hits(discoveryPath) + f.hits(keysPath); n > 0 {
			t.Errorf("%d calls", n)
		}
	})
}

func TestLogoutTokenKeys(t *testing.T) {
	f := newFake(t)
	c := f.client(t)
	verify := func(token string) error {
		_, err := c.VerifyLogoutToken(t.Context(), token, LogoutCheck{})
		return err
	}
	if err := verify(f.logoutToken(nil)); err != nil {
		t.Fatal(err)
	}
	t.Run("T-077 a rotated key is fetched once", func(t *testing.T) {
		f.setKeys(jwk(otherKey().Public(), "k2", "RS256"))
		before := f.hits(keysPath)
		if err := verify(sign(otherKey(), jose.RS256, "k2", nil, encode(logoutClaims(f.URL, nil)))); err != nil || f.hits(keysPath) != before+1 {
			t.Errorf("%v after %d calls", err, f.hits(keysPath)-before)
		}
	})
	t.Run("T-077 a flood of unknown kids costs one call in a pause", func(t *testing.T) {
		before := f.hits(keysPath)
		for range 20 {
			if err := verify(sign(rsaKey(), jose.RS256, "invented", nil, encode(logoutClaims(f.URL, nil)))); err == nil {
				t.Error("accepted")
			}
		}
		if n := f.hits(keysPath) - before; n > 1 {
			t.Errorf("%d calls", n)
		}
	})
}

func TestEndSessionURL(t *testing.T) {
	f := newFake(t)
	f.describe(map[string]any{"end_session_endpoint": f.URL + "/logout?own=1"})
	c := f.client(t)
	got, err := c.EndSessionURL(t.Context(), EndSession{
		IDToken: "a.b.c", LogoutHint: "ada", ReturnTo: "https://app.example/back", State: "s",
		Params: url.Values{"ui_locales": {"de at"}, "state": {"forged"}, "client_id": {"forged"}, "id_token_hint": {"forged"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	q := query(t, got)
	for name, want := range map[string]string{
		"own": "1", "client_id": clientID, "id_token_hint": "a.b.c", "logout_hint": "ada", "post_logout_redirect_uri": "https://app.example/back", "state": "s", "ui_locales": "de at",
	} {
		if q.Get(name) != want || len(q[name]) != 1 {
			t.Errorf("T-063 %s is %q, want %q", name, q[name], want)
		}
	}
	if c.EndSessionEndpoint() != f.URL+"/logout?own=1" {
		t.Errorf("EndSessionEndpoint = %q", c.EndSessionEndpoint())
	}
	t.Run("T-063 what is not sent cannot be added", func(t *testing.T) {
		forged := url.Values{"id_token_hint": {"forged"}, "logout_hint": {"forged"}, "post_logout_redirect_uri": {"https://evil.example"}}
		got, err := c.EndSessionURL(t.Context(), EndSession{State: "s", Params: forged})
		if err != nil || strings.Contains(got, "forged") || strings.Contains(got, "evil") {
			t.Errorf("%q, %v", got, err)
		}
	})
	t.Run("T-067 a long ID token is left out", func(t *testing.T) {
		got, err := c.EndSessionURL(t.Context(), EndSession{IDToken: strings.Repeat("x", 6<<10), State: "s"})
		if q := query(t, got); err != nil || q.Has("id_token_hint") || q.Get("client_id") != clientID || q.Get("state") != "s" {
			t.Errorf("%q, %v", got, err)
		}
	})
	t.Run("T-066 no endpoint", func(t *testing.T) {
		f := newFake(t)
		if got, err := f.client(t).EndSessionURL(t.Context(), EndSession{}); !errors.Is(err, ErrNoEndSession) {
			t.Errorf("%q, %v", got, err)
		}
		c := f.client(t, func(c *Config) { c.EndSession = Endpoint{URL: f.URL + "/end", Params: url.Values{"a": {"b"}}} })
		if got, err := c.EndSessionURL(t.Context(), EndSession{}); err != nil || got != f.URL+"/end?a=b&client_id="+clientID {
			t.Errorf("%q, %v", got, err)
		}
	})
	t.Run("T-066 discovery is down", func(t *testing.T) {
		f := newFake(t)
		f.answer(discoveryPath, send(503, "", ""))
		if got, err := f.client(t).EndSessionURL(t.Context(), EndSession{}); err == nil {
			t.Errorf("%q", got)
		}
	})
}

// FuzzLogoutToken signs whatever claims there are, and also feeds the input as a token of
// its own.
func FuzzLogoutToken(f *testing.F) {
	honest := logoutClaims(fuzzIssuer, map[string]any{"exp": time.Now().Unix() + 1e6})
	f.Add(encode(honest))
	f.Add([]byte(`{"iss":"https://op.example","aud":["client-1"],"events":{"http://schemas.openid.net/event/backchannel-logout":[]}}`))
	f.Add([]byte(`{"exp":1e999,"iat":"x","nonce":null,"sid":{}}`))
	f.Add([]byte(sign(otherKey(), jose.RS256, "k1", map[string]any{"typ": "logout+jwt"}, encode(honest))))
	f.Add([]byte(b64([]byte(`{"alg":"none"}`)) + "." + b64(encode(honest)) + "."))
	c := offline(f, "application/json", string(encode(map[string]any{"keys": []any{jwk(rsaKey().Public(), "k1", "RS256")}})))
	f.Fuzz(func(t *testing.T, input []byte) {
		if _, err := c.VerifyLogoutToken(context.Background(), string(input), LogoutCheck{Undated: true}); err == nil {
			t.Fatal("accepted a token that nobody signed")
		}
		got, err := c.VerifyLogoutToken(context.Background(), sign(rsaKey(), jose.RS256, "k1", nil, input), LogoutCheck{})
		if err != nil {
			if failure, is := errors.AsType[*StepError](err); got != nil || !is || failure.Step != StepLogout {
				t.Fatalf("got %+v, %v", got, err)
			}
			return
		}
		var claims map[string]any
		if json.Unmarshal(input, &claims) != nil || claims["iss"] != fuzzIssuer || claims["jti"] != got.ID || got.ID == "" || got.Subject == "" && got.SessionID == "" || got.Expires.IsZero() {
			t.Fatalf("accepted %s", input)
		}
		if _, stated := claims["nonce"]; stated {
			t.Fatalf("accepted %s", input)
		}
	})
}
