package interop

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/jwt"
)

const (
	newSecret = "the newest secret, of more than 32 characters"
	oldSecret = "an older secret, of more than 32 characters"

	sessionCookie = "authjs.session-token"
	secureCookie  = "__Secure-" + sessionCookie

	month = 30 * 24 * time.Hour
)

// tokenRows are what a token may hold, and under which secret it is sealed
// while newSecret and oldSecret are in use.
var tokenRows = []struct {
	name, secret, salt, claims string
}{
	{"a person", newSecret, sessionCookie, `{"name":"Ada","email":"ada@example.com","picture":"https://example.com/a.png","sub":"1"}`},
	{"a secure cookie", newSecret, secureCookie, `{"name":"Ada","email":"ada@example.com","sub":"1"}`},
	{"a secret that was rotated out", oldSecret, sessionCookie, `{"name":"Ada","sub":"1"}`},
	{"nothing", newSecret, sessionCookie, `{}`},
	{"nulls", newSecret, sessionCookie, `{"name":null,"email":null,"picture":null,"sub":"1"}`},
	{"nulls and absent claims", newSecret, sessionCookie, `{"name":null,"sub":"1"}`},
	{"unicode", newSecret, sessionCookie, `{"name":"Žofia 李 🦊 \u2028<&>\"\\\u0007","email":"ž@example.com","clé":"ü"}`},
	{"values that are no text", newSecret, sessionCookie, `{"name":17,"email":false,"picture":{"url":["x"]},"sub":"1"}`},
	{"nested values and numbers", newSecret, sessionCookie, `{"name":"Ada","n":[1,-2.5,1e21,9007199254740991,0],"o":{"a":{"b":null}},"e":[],"f":{}}`},
	{"an empty name", newSecret, sessionCookie, `{"name":"","email":"","sub":""}`},
	{"claims that sealing replaces", newSecret, sessionCookie, `{"jti":"mine","exp":1,"iat":2,"sub":"1"}`},
	{"more than one cookie holds", newSecret, sessionCookie, `{"name":"Ada","filling":"` + strings.Repeat("0123456789", 900) + `"}`},
}

// TestTokensOfAuthJS: what Auth.js sealed opens here, by each way of opening.
func TestTokensOfAuthJS(t *testing.T) {
	p := startPeer(t, "authjs", "tokens.mjs")
	for _, row := range tokenRows {
		t.Run(row.name, func(t *testing.T) {
			var token string
			p.ask(map[string]any{"do": "encode", "token": json.RawMessage(row.claims), "secret": row.secret, "salt": row.salt, "maxAge": 3600}, &token)
			want := decoded(t, row.claims)
			got, err := jwt.Decode(token, jwt.Params{Secrets: []string{newSecret, oldSecret}, Salt: row.salt})
			ok(t, err)
			sameClaims(t, got, want, time.Hour)

			header := http.Header{"Cookie": {cookieHeader(row.salt, token)}}
			got, err = jwt.GetToken(header, jwt.TokenParams{Secrets: []string{newSecret, oldSecret}, SecureCookie: new(row.salt == secureCookie)})
			ok(t, err)
			sameClaims(t, got, want, time.Hour)
			if _, err := jwt.Decode(token, jwt.Params{Secrets: []string{"another secret, of more than 32 characters"}, Salt: row.salt}); err == nil {
				t.Error("opens under another secret")
			}
		})
	}
}

// TestTokensOfOurs: what we sealed opens there, whole and as a request brings
// it.
func TestTokensOfOurs(t *testing.T) {
	p := startPeer(t, "authjs", "tokens.mjs")
	for _, row := range tokenRows {
		t.Run(row.name, func(t *testing.T) {
			given := decoded(t, row.claims)
			token, err := jwt.Encode(given, jwt.Params{Secrets: []string{row.secret}, Salt: row.salt, MaxAge: time.Hour})
			ok(t, err)
			var got jwt.Claims
			p.ask(map[string]any{"do": "decode", "token": token, "secrets": []string{newSecret, oldSecret}, "salt": row.salt}, &got)
			sameClaims(t, got, given, time.Hour)
			got = nil
			p.ask(map[string]any{
				"do": "getToken", "cookie": cookieHeader(row.salt, token), "secrets": []string{newSecret, oldSecret}, "secure": row.salt == secureCookie,
			}, &got)
			sameClaims(t, got, given, time.Hour)
			p.ask(map[string]any{"do": "decode", "token": token, "secrets": []string{"another secret"}, "salt": row.salt}, &got)
			if got != nil {
				t.Error("opens under another secret")
			}
		})
	}
}

// TestSessionRoute: for the same cookie both answer the same session, and both
// renew it to a token with the same claims in the same cookies.
func TestSessionRoute(t *testing.T) {
	p := startPeer(t, "authjs", "tokens.mjs")
	// With a callback that looks at the claims they take another way through
	// the library, although nothing changes.
	idle := latchkey.Callbacks{Token: func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) { return u.Claims, nil }}
	for name, callbacks := range map[string]latchkey.Callbacks{"as it is": {}, "past a callback": idle} {
		auth := newAuth(t, latchkey.Config{
			Secrets: []string{newSecret, oldSecret}, Providers: []latchkey.Provider{credentials()}, Callbacks: callbacks,
		})
		compare := func(t *testing.T, cookie string) (ours, theirs shown) {
			theirs, ours = theirSession(p, cookie), ourSession(t, auth, cookie)
			sameJSON(t, ours.body, theirs.body)
			sameCookies(t, ours.cookies, theirs.cookies)
			return ours, theirs
		}
		for _, row := range tokenRows {
			if row.salt != sessionCookie {
				continue // that is for https
			}
			t.Run(row.name+" "+name, func(t *testing.T) {
				token, err := jwt.Encode(decoded(t, row.claims), jwt.Params{Secrets: []string{row.secret}, Salt: row.salt})
				ok(t, err)
				ours, theirs := compare(t, cookieHeader(row.salt, token))
				sameClaims(t, opened(t, ours.cookies), opened(t, theirs.cookies), month)
			})
		}
		t.Run("a forged token "+name, func(t *testing.T) {
			compare(t, sessionCookie+".0=eyJh; "+sessionCookie+".1=.x.y.z.w")
		})
	}
}

// shown is an answer of GET /session.
type shown struct {
	body    map[string]any
	cookies []*http.Cookie
}

func theirSession(p *peer, cookie string) shown {
	p.t.Helper()
	var answer struct {
		Body    map[string]any
		Cookies []string
	}
	p.ask(map[string]any{"do": "session", "cookie": cookie, "secrets": []string{newSecret, oldSecret}}, &answer)
	return shown{answer.Body, (&http.Response{Header: http.Header{"Set-Cookie": answer.Cookies}}).Cookies()}
}

func ourSession(t *testing.T, auth http.Handler, cookie string) (s shown) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/auth/session", nil)
	r.Header.Set("Cookie", cookie)
	w := httptest.NewRecorder()
	auth.ServeHTTP(w, r)
	ok(t, json.Unmarshal(w.Body.Bytes(), &s.body))
	s.cookies = w.Result().Cookies()
	return s
}

// opened is the token in the session cookies of an answer.
func opened(t *testing.T, cookies []*http.Cookie) jwt.Claims {
	t.Helper()
	h := http.Header{}
	for _, c := range cookies {
		if c.Value != "" {
			h.Add("Cookie", c.Name+"="+c.Value)
		}
	}
	claims, err := jwt.GetToken(h, jwt.TokenParams{Secrets: []string{newSecret}})
	ok(t, err)
	return claims
}

// cookieHeader is a token as a browser sends it back, in several cookies where
// one is too small. Their order is the browser's own.
func cookieHeader(name, token string) string {
	const most = 3936
	if len(token) <= most {
		return name + "=" + token
	}
	var pairs []string
	for piece := range slices.Chunk([]byte(token), most) {
		pairs = append(pairs, name+"."+string(rune('0'+len(pairs)))+"="+string(piece))
	}
	slices.Reverse(pairs)
	return strings.Join(pairs, "; ")
}

func decoded(t *testing.T, text string) (c jwt.Claims) {
	t.Helper()
	ok(t, json.Unmarshal([]byte(text), &c))
	return c
}

// sameClaims compares what two tokens say, but for what each sealing sets anew;
// got has to be good for maxAge, and may be for a second more: Auth.js looks at the
// clock for each of the two times.
func sameClaims(t *testing.T, got, want jwt.Claims, maxAge time.Duration) {
	t.Helper()
	sameJSON(t, without(t, got, "iat", "exp", "jti"), without(t, want, "iat", "exp", "jti"))
	issued, _ := number(t, got["iat"])
	expires, isNumber := number(t, got["exp"])
	more := time.Duration(expires-issued)*time.Second - maxAge
	if !isNumber || more != 0 && more != time.Second || len(got.String("jti")) != 36 {
		t.Errorf("iat %v, exp %v, jti %v", got["iat"], got["exp"], got["jti"])
	}
}

func number(t *testing.T, v any) (n float64, isNumber bool) {
	t.Helper()
	return n, json.Unmarshal(asJSON(t, v), &n) == nil && v != nil
}

// without is a copy as encoding/json makes it, so that numbers compare.
func without(t *testing.T, c jwt.Claims, names ...string) (m map[string]any) {
	t.Helper()
	ok(t, json.Unmarshal(asJSON(t, c), &m))
	for _, name := range names {
		delete(m, name)
	}
	return m
}

// sameJSON compares objects; their times of expiry may be a minute apart.
func sameJSON(t *testing.T, got, want map[string]any) {
	t.Helper()
	if expires, has := want["expires"].(string); has {
		sameTime(t, got["expires"], expires)
		want["expires"] = got["expires"]
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %s\nwant %s", asJSON(t, got), asJSON(t, want))
	}
}

// sameTime also wants the same notation: UTC, with milliseconds.
func sameTime(t *testing.T, got any, want string) {
	t.Helper()
	const notation = "2006-01-02T15:04:05.000Z"
	text, _ := got.(string)
	a, errA := time.Parse(notation, text)
	b, errB := time.Parse(notation, want)
	if errA != nil || errB != nil || a.Sub(b).Abs() > time.Minute {
		t.Errorf("time %q, want about %q", got, want)
	}
}

// sameCookies compares names and attributes of the cookies that two answers
// set, in any order. Values are random.
func sameCookies(t *testing.T, got, want []*http.Cookie) {
	t.Helper()
	got = slices.DeleteFunc(slices.Clone(got), func(c *http.Cookie) bool { // ours alone: who has signed in before
		return strings.HasSuffix(c.Name, "authjs.browser")
	})
	ours, theirs := outline(got), outline(want)
	if !slices.Equal(ours, theirs) {
		t.Errorf("cookies\n%s\nwant\n%s", strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
	}
}

func outline(cookies []*http.Cookie) []string {
	var lines []string
	for _, c := range cookies {
		bare := *c
		bare.Value, bare.Expires, bare.RawExpires = "", time.Time{}, ""
		life := ""
		if !c.Expires.IsZero() { // Auth.js says Max-Age as well for some cookies, and we for all checks
			bare.MaxAge = min(c.MaxAge, 0)
			life = " for about " + time.Until(c.Expires).Round(5*time.Minute).String()
		}
		if c.Value == "" {
			life = " (empty)"
		}
		lines = append(lines, bare.String()+life)
	}
	slices.Sort(lines)
	return lines
}
