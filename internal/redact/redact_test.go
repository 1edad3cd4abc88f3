package redact_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/redact"
)

func TestText(t *testing.T) {
	secrets := []string{"hunter2", "hunter2-and-more", "abc"}
	for _, c := range []struct{ name, text, want string }{
		{"R-236 a secret", "password hunter2 refused", "password [redacted] refused"},
		{"R-236 one that holds another", "hunter2-and-more", "[redacted]"},
		{"what is too short to be one stays", "abc", "abc"},
		{"R-237 the password of a data source", "dial postgres://u:p4ss@db.example/x", "dial postgres://[redacted]@db.example/x"},
		{"R-237 a query", `Get "https://id.example/token?code=1": EOF`, `Get "https://id.example/token?[redacted]": EOF`},
		{"R-237 a key and value source", "host=db password='a b' user=x", "host=db password=[redacted] user=x"},
		{"what could forge a line", "a\nlevel=ERROR", `a\nlevel=ERROR`},
		{"quotes stay readable", `say "no"`, `say "no"`},
		{"what is too long is cut", strings.Repeat("x", 99), strings.Repeat("x", 64) + "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := redact.Text(c.text, append([]string(nil), secrets...), 64); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// FuzzText: no secret survives, wherever the text is cut.
func FuzzText(f *testing.F) {
	f.Add("before ", " after", 7)
	f.Add(strings.Repeat("x", 60), "", 16)
	f.Add("sec", "ret", 16)
	f.Fuzz(func(t *testing.T, before, after string, limit int) {
		const secret = "s3cret-that-is-long"
		limit = 16 + max(limit, -limit)%64
		got := redact.Text(before+secret+after, []string{secret}, limit)
		if strings.Contains(got, secret) {
			t.Errorf("%q", got)
		}
	})
}

func TestR393QuotedSecrets(t *testing.T) {
	secret := "p\"ss\n w\\rd <\u00e4\u202e>"
	for _, verb := range []string{"%s", "%q", "%+q", "%#q", "%#v", "%v"} {
		t.Run("R-393 "+verb, func(t *testing.T) {
			got := redact.Text(fmt.Sprintf("login with "+verb+" failed", secret), []string{secret}, 256)
			if strings.Contains(got, "ss") || strings.Contains(got, "rd") || !strings.Contains(got, "[redacted]") {
				t.Errorf("%q", got)
			}
		})
	}
	quoted, err := json.Marshal(map[string]string{"password": secret})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"JSON": string(quoted), "a query": "x=" + url.QueryEscape(secret), "a path": "/" + url.PathEscape(secret)} {
		t.Run("R-393 in "+name, func(t *testing.T) {
			if got := redact.Text(text, []string{secret}, 256); strings.Contains(got, "ss") && strings.Contains(got, "rd ") || !strings.Contains(got, "[redacted]") {
				t.Errorf("%q", got)
			}
		})
	}
}
