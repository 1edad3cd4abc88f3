package browser

import (
	"encoding/json"
	"testing"

	"github.com/latchkeyhq/latchkey/jwt"
)

// FuzzTokenCookie: whatever a sealed cookie says, what is read of it names a session and
// at most three accounts.
func FuzzTokenCookie(f *testing.F) {
	f.Add([]byte(`{"purpose":"provider tokens","sub":"u","sid":"s","accounts":[{"p":"google","a":"1","rt":"r","e":1}]}`))
	f.Add([]byte(`{"purpose":"provider tokens","sub":"u","sid":"s","accounts":{"p":[]},"iat":1e400}`))
	f.Add([]byte(`{"purpose":"provider tokens","sub":"u","sid":7,"accounts":[{},{},{},{}]}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		var claims jwt.Claims
		if json.Unmarshal(payload, &claims) != nil {
			return
		}
		got, ok := tokenCookieOf(claims)
		if ok && (got.Subject == "" || got.Session == "" || len(got.Accounts) > mostTokenAccounts || claims["purpose"] != purposeTokens) {
			t.Errorf("read %+v", got)
		}
	})
}
