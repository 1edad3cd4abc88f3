package jwt_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/jwt"
)

func FuzzOpen(f *testing.F) {
	c := jwt.NewCodec([]string{secret, "an older secret"}, salt)
	by := forger{tb: f, secret: secret, salt: salt, fixed: true}
	good := by.cbc(by.header(), object)
	gcm := by.gcm(`{"alg":"dir","enc":"A256GCM"}`, object, 32)
	known := map[string]bool{good: true, gcm: true}
	for _, token := range []string{good, gcm, "", "....", strings.Replace(good, ".", "A.", 1), b64.EncodeToString([]byte(`{"alg":null}`)) + "...."} {
		f.Add(token)
	}
	f.Fuzz(func(t *testing.T, token string) {
		payload, err := c.Open(token)
		if known[token] {
			if err != nil || string(payload) != object {
				t.Errorf("a genuine token is refused: %v", err)
			}
			return
		}
		if !errors.Is(err, jwt.ErrInvalid) || payload != nil {
			t.Errorf("Open(%q) = %q, %v", token, payload, err)
		}
	})
}

func FuzzHeader(f *testing.F) {
	c := jwt.NewCodec([]string{secret}, salt)
	by := forger{tb: f, secret: secret, salt: salt}
	for _, header := range []string{by.header(), `{"alg":"dir","enc":"A256CBC-HS512"}`, `{"alg":null}`, `{"alg":"dir","enc":"A256GCM","kid":""}`, "[]"} {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		by := forger{tb: t, secret: secret, salt: salt}
		if _, err := c.Open(by.cbc(header, object)); err != nil {
			return
		}
		var h map[string]any
		if err := json.Unmarshal([]byte(header), &h); err != nil || h["alg"] != "dir" || h["enc"] != "A256CBC-HS512" {
			t.Errorf("accepted header %q", header)
		}
		if kid, found := h["kid"]; found && kid != by.kid(64) {
			t.Errorf("accepted kid %q", kid)
		}
	})
}

func FuzzSeal(f *testing.F) {
	c := jwt.NewCodec([]string{secret}, salt)
	f.Add([]byte(object))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, payload []byte) {
		token, err := c.Seal(payload)
		if errors.Is(err, jwt.ErrTooLong) && len(payload) > jwt.MaxLen/2 {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		mustOpen(t, c, token, string(payload))
	})
}

func FuzzDecode(f *testing.F) {
	c := jwt.NewCodec([]string{secret}, salt)
	for _, payload := range []string{object, `{"exp":1e400}`, `{"exp":null}`, `{"iat":1.5}`, `{"exp":9999999999,"n":12345678901234567890}`, `null`} {
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		token, err := c.Seal([]byte(payload))
		if err != nil {
			return
		}
		claims, err := jwt.Decode(token, params())
		if err != nil {
			if claims != nil || (err != jwt.ErrInvalid && err != jwt.ErrExpired) {
				t.Errorf("Decode = %v, %v", claims, err)
			}
			return
		}
		renewed, err := jwt.Encode(claims, params())
		if err != nil && !errors.Is(err, jwt.ErrTooLong) {
			t.Errorf("what was decoded cannot be encoded: %v", err)
		}
		if again, err := jwt.Decode(renewed, params()); err == nil && again.String("n") != claims.String("n") {
			t.Errorf("%q became %q", claims["n"], again["n"])
		}
	})
}

func FuzzBearer(f *testing.F) {
	for _, value := range []string{"Bearer x", "Bearer %41", "Bearer %", "bearer x", "Bearer  x", "Bearer " + mint(f, "me", salt), "Bearer %ff", ""} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		token, err := jwt.GetRawToken(http.Header{"Authorization": {value}}, tokenParams())
		if (token == "") != (err != nil) || (err != nil && !errors.Is(err, jwt.ErrNoToken)) {
			t.Errorf("GetRawToken = %q, %v", token, err)
		}
		if err == nil && (!strings.HasPrefix(value, "Bearer ") || !utf8.ValidString(token) || len(token) > jwt.MaxLen) {
			t.Errorf("%q was read from %q", token, value)
		}
	})
}
