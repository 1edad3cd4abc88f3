package storage_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/latchkeyhq/latchkey/storage"
)

func TestR318RecordsAreThoseOfAuthJS(t *testing.T) {
	at := time.Date(2026, 11, 22, 4, 0, 0, int(5*time.Millisecond), time.UTC)
	account := storage.AccountRecord(storage.Account{
		ID: "a1", UserID: "u1", Provider: "acme", ProviderAccountID: "7", Type: storage.TypeOIDC,
		Tokens: storage.Tokens{
			AccessToken: "at", RefreshToken: "rt", IDToken: "it", TokenType: "bearer", Scope: "openid", SessionState: "st",
			ExpiresAt: at.Truncate(time.Second), ExpiresIn: time.Hour, AuthorizationDetails: []map[string]any{{"type": "payment"}}, Extra: map[string]any{"realm_id": "7"},
		},
		Extra: map[string]any{"not_before_policy": "0", "provider": "shadowed"}, Email: "ada@example.com", EmailVouched: true,
	})
	for name, row := range map[string]struct {
		record any
		want   string
	}{
		"R-318 account": {account, `{"id":"a1","userId":"u1","type":"oidc","provider":"acme","providerAccountId":"7","refresh_token":"rt","access_token":"at",` +
			`"expires_at":1795320000,"expires_in":3600,"token_type":"bearer","scope":"openid","id_token":"it","session_state":"st",` +
			`"authorization_details":[{"type":"payment"}],"token_extra":{"realm_id":"7"},"email":"ada@example.com","email_vouched":true,"not_before_policy":"0"}`},
		"R-318 an account of the least": {
			storage.AccountRecord{UserID: "u1", Provider: "acme", ProviderAccountID: "7", Type: storage.TypeOAuth},
			`{"userId":"u1","type":"oauth","provider":"acme","providerAccountId":"7"}`,
		},
		"R-318 verification token": {
			storage.VerificationTokenRecord{Identifier: "ada@example.com", Token: "hash", Expires: at},
			`{"identifier":"ada@example.com","token":"hash","expires":"2026-11-22T04:00:00.005Z"}`,
		},
		"R-318 authenticator": {
			storage.AuthenticatorRecord{CredentialID: []byte{0xfb, 0xff}, UserID: "u1", ProviderAccountID: "+/8=", PublicKey: []byte{1}, Counter: 4, DeviceType: "singleDevice", BackedUp: true, Transports: []string{"usb", "nfc"}},
			`{"credentialID":"+/8=","userId":"u1","providerAccountId":"+/8=","credentialPublicKey":"AQ==","counter":4,"credentialDeviceType":"singleDevice","credentialBackedUp":true,"transports":"usb,nfc"}`,
		},
		"R-318 an authenticator without transports": {
			storage.AuthenticatorRecord{CredentialID: []byte{1}, PublicKey: []byte{1}},
			`{"credentialID":"AQ==","userId":"","providerAccountId":"","credentialPublicKey":"AQ==","counter":0,"credentialDeviceType":"","credentialBackedUp":false,"transports":null}`,
		},
		"R-318 session": {
			storage.StoredSessionRecord{ID: "s1", Token: "hash", UserID: "u1", Expires: at, Created: at, AMR: []string{"pwd"}},
			`{"id":"s1","sessionToken":"hash","userId":"u1","expires":"2026-11-22T04:00:00.005Z","created":"2026-11-22T04:00:00.005Z","amr":["pwd"]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(row.record)
			if err != nil || string(got) != row.want {
				t.Fatalf("%s, %v\nwant %s", got, err, row.want)
			}
			back := reflect.New(reflect.TypeOf(row.record))
			if err := json.Unmarshal(got, back.Interface()); err != nil {
				t.Fatal(err)
			}
			again, err := json.Marshal(back.Elem().Interface())
			if err != nil || string(again) != row.want {
				t.Errorf("back again it is %s, %v", again, err)
			}
		})
	}
	for _, record := range []any{new(storage.AccountRecord), new(storage.VerificationTokenRecord), new(storage.AuthenticatorRecord), new(storage.StoredSessionRecord)} {
		for _, text := range []string{`[]`, `5`, `{"userId":5,"token":5,"credentialID":"!"}`, `{`} {
			if err := json.Unmarshal([]byte(text), record); err == nil {
				t.Errorf("R-318: a %T was read from %s", record, text)
			}
		}
	}
}

// TestExtraFillsNoField: R-807, a member of Extra that only its case tells from the name
// of a field reads back as what it was, and leaves the field alone.
func TestExtraFillsNoField(t *testing.T) {
	full := storage.AccountRecord{
		ID: "a1", UserID: "u1", Provider: "acme", ProviderAccountID: "7", Type: storage.TypeOIDC, Email: "ada@example.com", EmailVouched: true,
		Tokens: storage.Tokens{
			AccessToken: "at", RefreshToken: "rt", IDToken: "it", TokenType: "bearer", Scope: "openid", SessionState: "st", ExpiresIn: time.Hour,
			ExpiresAt: time.Unix(1795320000, 0).UTC(), AuthorizationDetails: []map[string]any{{"type": "payment"}}, Extra: map[string]any{"realm_id": "7"},
		},
	}
	text, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil || len(members) < 17 {
		t.Fatalf("%d members, %v", len(members), err)
	}
	for name := range members {
		for _, spelled := range []string{
			strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:], strings.Map(swapped, name),
			strings.ReplaceAll(name, "s", "\u017f"), strings.ReplaceAll(name, "k", "\u212a"), // which fold to s and k
		} {
			for _, value := range []any{"x", json.Number("5"), true, nil, []any{"x"}, map[string]any{"x": "y"}} {
				for _, record := range []storage.AccountRecord{full, {UserID: "u1", Provider: "acme", ProviderAccountID: "7", Type: storage.TypeOAuth}} {
					if record.Extra = map[string]any{spelled: value}; spelled == name {
						continue
					}
					text, err := json.Marshal(record)
					if err != nil {
						t.Fatal(err)
					}
					var back storage.AccountRecord
					if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, record) {
						again, _ := json.Marshal(back)
						t.Errorf("R-807: %s reads back as %s, %v", text, again, err)
					}
				}
			}
		}
	}
}

// swapped returns a letter in the other case.
func swapped(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}
