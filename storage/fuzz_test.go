package storage_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/latchkeyhq/latchkey/storage"
)

// FuzzRecords reads each record from bytes that a store returned. What is read can
// be written, and what is written is read as the same text.
func FuzzRecords(f *testing.F) {
	for _, seed := range []string{
		`{"id":"1","name":"Ada","email":"a@b","image":null,"emailVerified":"2026-01-02T02:04:05.678Z","role":"admin"}`,
		`{"id":"a","userId":"u","type":"oidc","provider":"acme","providerAccountId":"7","expires_at":1795320000,"expires_in":3600,"token_extra":{"k":[1]},"more":1e400}`,
		`{"userId":"u","email":"a@b","Email":5,"SCOPE":[1],"EXPIRES_AT":"x"}`,
		`{"identifier":"a@b","token":"hash","expires":"2026-11-22T04:00:00.005Z","purpose":"x"}`,
		`{"credentialID":"+/8=","userId":"u","credentialPublicKey":"AQ==","counter":4,"transports":"usb,nfc"}`,
		`{"sessionToken":"hash","userId":"u","expires":"2026-11-22T04:00:00Z","amr":["pwd"],"proved":"2026-11-22T04:00:00Z"}`,
		`{"expires":"9999-12-31T23:59:59.999+23:59"}`, `{"expires_at":-99999999999999}`, `{"transports":","}`, `{}`, `null`, `[`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, record := range []any{
			new(storage.User), new(storage.AccountRecord), new(storage.VerificationTokenRecord),
			new(storage.AuthenticatorRecord), new(storage.StoredSessionRecord),
		} {
			if json.Unmarshal(data, record) == nil {
				returns(t, record)
			}
		}
	})
}

// returns writes a record, reads it and writes it again.
func returns(t *testing.T, record any) {
	t.Helper()
	first, err := json.Marshal(record)
	if err != nil {
		return // a time beyond the year 9999
	}
	again := reflect.New(reflect.TypeOf(record).Elem()).Interface()
	if err := json.Unmarshal(first, again); err != nil {
		t.Fatalf("a %T was written as %s and is not read: %v", record, first, err)
	}
	if second, err := json.Marshal(again); err != nil || !bytes.Equal(first, second) {
		t.Errorf("a %T was written as %s, then as %s, %v", record, first, second, err)
	}
}
