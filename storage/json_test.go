package storage_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

func TestUserJSON(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.FixedZone("", 3600))
	for _, c := range []struct {
		name string
		user storage.User
		want string
	}{
		{"nothing is null", storage.User{}, `{"name":null,"email":null,"image":null}`},
		{"everything", storage.User{ID: "1", Name: "Ada", Email: "a@b", Image: "i", EmailVerified: at}, `{"id":"1","name":"Ada","email":"a@b","image":"i","emailVerified":"2026-01-02T02:04:05.678Z"}`},
		{"members of the application's own, in order", storage.User{Extra: map[string]any{"role": "admin", "age": 7, "x": nil}}, `{"name":null,"email":null,"image":null,"age":7,"role":"admin","x":null}`},
		{"which replace none of ours", storage.User{ID: "1", Extra: map[string]any{"id": "2", "name": "Eve", "email": "e", "image": "e", "emailVerified": "now"}}, `{"id":"1","name":null,"email":null,"image":null}`},
		{"text that JSON and markup escape", storage.User{Name: "a\"\\\n</script>\u2028é\xff"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw, err := json.Marshal(c.user)
			if err != nil {
				t.Fatal(err)
			}
			if c.want != "" && string(raw) != c.want {
				t.Errorf("%s, want %s", raw, c.want)
			}
			var back storage.User
			if err := json.Unmarshal(raw, &back); err != nil {
				t.Fatal(err)
			}
			if back.ID != c.user.ID || back.Name != strings.ToValidUTF8(c.user.Name, "\ufffd") || !back.EmailVerified.Equal(c.user.EmailVerified.Truncate(time.Millisecond)) {
				t.Errorf("%s is read as %+v", raw, back)
			}
			if strings.Contains(string(raw), "</script>") {
				t.Errorf("%s ends a script", raw)
			}
		})
	}
	if _, err := json.Marshal(storage.User{Extra: map[string]any{"f": func() {}}}); err == nil {
		t.Error("a function became JSON")
	}
	t.Run("R-548 numbers keep their digits", func(t *testing.T) {
		const text = `{"userId":"u","type":"oauth","provider":"p","providerAccountId":"1","authorization_details":[{"n":9007199254740993}],` +
			`"token_extra":{"n":9007199254740993},"n":9007199254740993}`
		var account storage.AccountRecord
		if err := json.Unmarshal([]byte(text), &account); err != nil {
			t.Fatal(err)
		}
		if raw, err := json.Marshal(account); err != nil || string(raw) != text {
			t.Errorf("an account became %s, %v", raw, err)
		}
		const user = `{"name":null,"email":null,"image":null,"n":9007199254740993,"of":{"n":[9007199254740993]}}`
		var u storage.User
		if err := json.Unmarshal([]byte(user), &u); err != nil {
			t.Fatal(err)
		}
		if raw, err := json.Marshal(u); err != nil || string(raw) != user {
			t.Errorf("a user became %s, %v", raw, err)
		}
	})
	for _, bad := range []string{`null`, `[]`, `"x"`, `{`, `1`} {
		var u storage.User
		if err := u.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s became a user", bad)
		}
	}
}
