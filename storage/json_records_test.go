package storage_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

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
