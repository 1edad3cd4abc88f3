package sitetest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

func TestSessionJSON(t *testing.T) {
	s := latchkey.Session{
		User: latchkey.SessionUser{Name: "Ada", Extra: latchkey.Claims{"role": "admin"}}, Expires: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Extra: latchkey.Claims{"org": map[string]any{"id": "7"}, "user": "Eve", "expires": "never"},
	}
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"user":{"name":"Ada","email":null,"image":null,"role":"admin"},"expires":"2026-01-02T03:04:05.000Z","org":{"id":"7"}}`
	if string(raw) != want {
		t.Errorf("%s, want %s", raw, want)
	}
	var back latchkey.Session
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil || string(again) != want {
		t.Errorf("there and back: %s, %v", again, err)
	}
	for _, bad := range []string{`null`, `[]`, `{"user":1}`, `{"expires":"soon"}`, `{"expires":7}`, `{`} {
		if err := new(latchkey.Session).UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s became a session", bad)
		}
	}
}

// a session may have no user at all, which is another thing than a user
// of whom nothing is known.
func TestSessionWithoutUser(t *testing.T) {
	for _, want := range []string{
		`{"expires":"2026-01-02T03:04:05.000Z"}`, `{"expires":"2026-01-02T03:04:05.000Z","org":7}`,
		`{"user":{"name":null,"email":null,"image":null},"expires":"2026-01-02T03:04:05.000Z"}`,
	} {
		var s latchkey.Session
		if err := json.Unmarshal([]byte(want), &s); err != nil {
			t.Fatal(err)
		}
		if raw, err := json.Marshal(s); err != nil || string(raw) != want {
			t.Errorf("R-318 %s became %s, %v", want, raw, err)
		}
	}
	nameless := func(c *latchkey.Config) {
		c.Providers = []latchkey.Provider{&latchkey.Credentials{ID: "crew", Fields: []latchkey.Field{{Name: "username"}}, Authorize: func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) {
			return latchkey.User{ID: "alice-1"}, nil
		}}}
	}
	expiresOnly := func(c *latchkey.Config) {
		c.Callbacks.Session = func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
			return &latchkey.Session{Expires: r.Session.Expires}, nil
		}
	}
	stored := func(t *testing.T, change ...func(*latchkey.Config)) *browser {
		_, b, users := newSignedInSite(t, change...)
		u, err := users.GetUserByEmail(t.Context(), "ada@example.com")
		if err != nil {
			t.Fatal(err)
		}
		empty := ""
		if _, err := users.UpdateUser(t.Context(), u.ID, storage.UserChange{Name: &empty, Email: &empty, Image: &empty}); err != nil {
			t.Fatal(err)
		}
		return b
	}
	sealed := func(t *testing.T, change ...func(*latchkey.Config)) *browser {
		b := newSite(t, append(change, nameless)...).newBrowser()
		b.signIn()
		return b
	}
	for name, signedIn := range map[string]func(*testing.T, ...func(*latchkey.Config)) *browser{"stored": stored, "sealed": sealed} {
		t.Run("R-318 "+name, func(t *testing.T) {
			if body := signedIn(t, expiresOnly).session(); !strings.HasPrefix(body, `{"expires":"20`) || strings.Contains(body, "user") {
				t.Errorf("the browser sees %s", body)
			}
			if body := signedIn(t).session(); !strings.HasPrefix(body, `{"user":{`) {
				t.Errorf("a nameless user is %s", body)
			}
		})
	}
}

// What a token says of a user reaches the browser as it is, and a session that
// is read in Go and written again is the same.
func TestSessionKeepsClaims(t *testing.T) {
	codec := jwt.NewCodec([]string{siteSecret}, "__Secure-authjs.session-token")
	shaped := func(c *latchkey.Config) {
		c.Callbacks.Token = func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) { return u.Claims, nil }
	}
	for _, c := range []struct{ name, claims, want string }{
		{"text", `{"name":"Ada","email":"a@b","picture":"p"}`, `{"name":"Ada","email":"a@b","image":"p"}`},
		{"null", `{"name":null,"email":null,"picture":null}`, `{"name":null,"email":null,"image":null}`},
		{"absent", `{"sub":"1"}`, `{}`},
		{"some absent", `{"email":"a@b"}`, `{"email":"a@b"}`},
		{"empty text", `{"name":"","email":"","picture":""}`, `{"name":"","email":"","image":""}`},
		{"other types", `{"name":7,"email":["a"],"picture":{"url":"x"}}`, `{"name":7,"email":["a"],"image":{"url":"x"}}`},
		{"booleans", `{"name":false,"email":true}`, `{"name":false,"email":true}`},
		{"a large number", `{"name":12345678901234567890}`, `{"name":12345678901234567890}`},
	} {
		for way, change := range map[string]func(*latchkey.Config){"plain": func(*latchkey.Config) {}, "shaped": shaped} {
			t.Run(c.name+", "+way, func(t *testing.T) {
				site := newSite(t, change)
				decoder := json.NewDecoder(strings.NewReader(c.claims))
				decoder.UseNumber()
				var claims jwt.Claims
				if err := decoder.Decode(&claims); err != nil {
					t.Fatal(err)
				}
				token, err := codec.SealClaims(claims, site.clock.Now(), time.Hour)
				if err != nil {
					t.Fatal(err)
				}
				b := site.newBrowser()
				b.jar["__Secure-authjs.session-token"] = token
				r := b.request("GET", "/own", "", "")
				body := b.session()
				if want := `{"user":` + c.want + `,"expires":"2026-05-31T12:00:00.000Z"}`; body != want {
					t.Errorf("the browser sees %s, want %s", body, want)
				}
				s, err := site.auth.ReadSession(httptest.NewRecorder(), r)
				if err != nil {
					t.Fatal(err)
				}
				if raw, err := json.Marshal(s); err != nil || string(raw) != body {
					t.Errorf("Go writes %s, the browser saw %s", raw, body)
				}
				s.User.Name = ""
				if raw, _ := json.Marshal(s); strings.Contains(string(raw), "Ada") {
					t.Errorf("an emptied name comes back: %s", raw)
				}
				s.User.Name = "Eve"
				if raw, _ := json.Marshal(s); !strings.Contains(string(raw), `"name":"Eve"`) {
					t.Errorf("a changed name is lost: %s", raw)
				}
			})
		}
	}
}

func TestValue(t *testing.T) {
	type address struct{ City string }
	members := map[string]any{
		"role": "admin", "age": json.Number("7"), "large": json.Number("9007199254740993"), "home": map[string]any{"City": "Ghent"}, "tags": []any{"a", "b"}, "none": nil, "on": true, "native": 7, "at": "2026-01-02T03:04:05Z",
	}
	check := func(name string, got, want any, err error) {
		t.Helper()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %#v, want %#v (%v)", name, got, want, err)
		}
	}
	text, err := latchkey.Value[string](members, "role")
	check("role", text, "admin", err)
	age, err := latchkey.Value[int](members, "age")
	check("age", age, 7, err)
	large, err := latchkey.Value[int64](members, "large")
	check("large", large, int64(9007199254740993), err)
	home, err := latchkey.Value[address](members, "home")
	check("home", home, address{"Ghent"}, err)
	tags, err := latchkey.Value[[]string](members, "tags")
	check("tags", tags, []string{"a", "b"}, err)
	on, err := latchkey.Value[bool](members, "on")
	check("on", on, true, err)
	native, err := latchkey.Value[int](members, "native")
	check("native", native, 7, err)
	at, err := latchkey.Value[time.Time](members, "at")
	check("at", at, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), err)
	pointer, err := latchkey.Value[*address](members, "none")
	check("none", pointer, (*address)(nil), err)
	claim, err := latchkey.Value[string](latchkey.Claims(members), "role")
	check("claim", claim, "admin", err)

	if _, err := latchkey.Value[string](members, "absent"); !errors.Is(err, latchkey.ErrNoValue) || errors.Is(err, latchkey.ErrNotFound) || !strings.Contains(err.Error(), "absent") {
		t.Errorf("absent: %v", err)
	}
	if _, err := latchkey.Value[string](map[string]any(nil), "role"); !errors.Is(err, latchkey.ErrNoValue) {
		t.Errorf("nil map: %v", err)
	}
	for _, key := range []string{"role", "home", "tags", "on"} {
		if _, err := latchkey.Value[int](members, key); err == nil || !strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "admin") {
			t.Errorf("%s as a number: %v", key, err)
		}
	}
}

func TestAs(t *testing.T) {
	type profile struct {
		Login string
		ID    int `json:"id"`
	}
	got, err := latchkey.Decode[profile](latchkey.Claims{"login": "ada", "id": json.Number("7"), "more": true})
	if err != nil || got != (profile{"ada", 7}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := latchkey.Decode[profile](map[string]any{"id": "seven"}); err == nil {
		t.Error("text became a number")
	}
	if got, err := latchkey.Decode[profile](map[string]any(nil)); err != nil || got != (profile{}) {
		t.Errorf("nil: %+v, %v", got, err)
	}
}
