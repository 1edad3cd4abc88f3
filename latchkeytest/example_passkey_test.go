package latchkeytest_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// Without a browser and without Latchkey: options of any server, and what a
// page would send back to it.
func ExampleAuthenticator_Create() {
	options := []byte(`{
		"rp": {"id": "example.com", "name": "Example"},
		"user": {"id": "c29tZWJvZHk", "name": "ada@example.com", "displayName": "Ada"},
		"challenge": "bm9ib2R5IGtub3dzIHRoaXMgYmVmb3JlaGFuZA",
		"pubKeyCredParams": [{"type": "public-key", "alg": -7}]
	}`)
	authenticator := latchkeytest.NewAuthenticator("https://example.com")
	answer, err := authenticator.Create(options)
	if err != nil {
		log.Fatal(err)
	}
	var credential struct {
		ID, Type string
		Response struct{ PublicKeyAlgorithm int }
	}
	if err := json.Unmarshal(answer, &credential); err != nil {
		log.Fatal(err)
	}
	fmt.Println(credential.Type, len(credential.ID), credential.Response.PublicKeyAlgorithm)
	fmt.Println(authenticator.Passkeys()[0].UserName)
	// Output:
	// public-key 43 -7
	// ada@example.com
}

// One fault at a time: this passkey signs for a page of another site.
func ExampleAuthenticator_Misbehave() {
	authenticator := latchkeytest.NewAuthenticator("https://example.com")
	authenticator.Misbehave(latchkeytest.PasskeyMisbehaviour{
		ClientData: func(members map[string]any) { members["origin"] = "https://example.net" },
		AuthenticatorData: func(d *latchkeytest.AuthenticatorData) {
			d.Flags &^= latchkeytest.FlagUserVerified
		},
	})
	authenticator.Misbehave(latchkeytest.PasskeyMisbehaviour{}) // and none from here on
	_, err := authenticator.Get([]byte(`{"rpId": "example.com", "challenge": "bm9ib2R5IGtub3dzIHRoaXM"}`))
	fmt.Println(err)
	// Output: latchkeytest: NotAllowedError: no passkey for example.com that was asked for
}
