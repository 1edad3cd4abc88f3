package storage_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// A record has the names of Auth.js in JSON. An Account itself prints nothing of
// its secrets.
func ExampleAccountRecord() {
	account := storage.Account{UserID: "u1", Provider: "acme", ProviderAccountID: "7", Type: storage.TypeOAuth}
	account.Tokens.AccessToken = "s3cret"
	body, err := json.Marshal(storage.AccountRecord(account))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(body))
	fmt.Println(account)

	var back storage.AccountRecord
	if err := json.Unmarshal(body, &back); err != nil {
		fmt.Println(err)
		return
	}
	account = storage.Account(back)
	fmt.Println(account.Tokens.AccessToken == "s3cret")
	// Output:
	// {"userId":"u1","type":"oauth","provider":"acme","providerAccountId":"7","access_token":"s3cret"}
	// [redacted]
	// true
}

// Sessions, verification tokens and passkeys have a record too.
func ExampleStoredSessionRecord() {
	end := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, record := range []any{
		storage.StoredSessionRecord{Token: "hash", UserID: "u1", Expires: end},
		storage.VerificationTokenRecord{Identifier: "ada@example.com", Token: "hash", Expires: end},
		storage.AuthenticatorRecord{CredentialID: []byte("id"), UserID: "u1", PublicKey: []byte("key"), DeviceType: "singleDevice"},
	} {
		body, err := json.Marshal(record)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(string(body)[:24])
	}
	// Output:
	// {"sessionToken":"hash","
	// {"identifier":"ada@examp
	// {"credentialID":"aWQ=","
}
