package storage_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/storage"
)

const secret = "s3cret"

// secretive are records that hold a secret in each field that can hold one.
var secretive = map[string]any{
	"tokens": storage.Tokens{
		AccessToken: secret, RefreshToken: secret, IDToken: secret, SessionState: secret,
		AuthorizationDetails: []map[string]any{{"k": secret}}, Extra: map[string]any{"k": secret},
	},
	"account":              storage.Account{Tokens: storage.Tokens{AccessToken: secret}, Extra: map[string]any{"k": secret}},
	"a pointer":            &storage.Account{Tokens: storage.Tokens{RefreshToken: secret}},
	"a list":               []storage.Account{{Tokens: storage.Tokens{IDToken: secret}}},
	"session":              storage.StoredSession{Token: secret, Sealed: secret},
	"verification token":   storage.VerificationToken{Token: secret},
	"a field of a struct":  struct{ S storage.StoredSession }{storage.StoredSession{Token: secret}},
	"a value of a map":     map[string]any{"k": storage.VerificationToken{Token: secret}},
	"tokens of the record": storage.AccountRecord{Tokens: storage.Tokens{AccessToken: secret}}.Tokens,
}

func TestSecretsAreNotPrinted(t *testing.T) {
	for name, v := range secretive {
		t.Run("R-393 "+name, func(t *testing.T) {
			for how, text := range printed(v) {
				if strings.Contains(text, secret) || strings.Contains(text, fmt.Sprintf("%x", secret)) {
					t.Errorf("%s shows the secret: %s", how, text)
				}
			}
		})
	}
}

// A record is written out as JSON on purpose, and printed no more than what it is
// converted from.
func TestRecordsAreNotPrinted(t *testing.T) {
	for _, v := range []any{
		storage.AccountRecord{Tokens: storage.Tokens{AccessToken: secret}},
		storage.StoredSessionRecord{Token: secret},
		storage.VerificationTokenRecord{Token: secret},
	} {
		for _, verb := range verbs {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, secret) {
				t.Errorf("R-393: %s of a %T shows the secret: %s", verb, v, text)
			}
		}
		if raw, err := json.Marshal(v); err != nil || !strings.Contains(string(raw), secret) {
			t.Errorf("R-318: a %T is written as %s, %v", v, raw, err)
		}
	}
}

var verbs = []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"}

// printed returns the texts into which v can be turned by accident.
func printed(v any) map[string]string {
	all := map[string]string{}
	for _, verb := range verbs {
		all[verb] = fmt.Sprintf(verb, v)
	}
	if raw, err := json.Marshal(v); err == nil {
		all["JSON"] = string(raw)
	}
	if raw, err := xml.Marshal(v); err == nil {
		all["XML"] = string(raw)
	}
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info("text", "v", v)
	slog.New(slog.NewJSONHandler(&b, nil)).Info("JSON", "v", v)
	all["slog"] = b.String()
	return all
}
