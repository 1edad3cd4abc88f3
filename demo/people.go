package main

import (
	"context"
	"crypto/subtle"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// The one who signs in with a password. Both are printed on the front page.
const (
	aliceName     = "alice"
	alicePassword = "wonderland"
	aliceEmail    = "alice@example.com"
)

// people have an account at the demo's identity provider.
var people = []latchkeytest.Person{
	{Subject: "ada", Name: "Ada Lovelace", Email: "ada@example.com", EmailVerified: true},
	{Subject: "grace", Name: "Grace Hopper", Email: "grace@example.com", EmailVerified: true},
	// Her e-mail belongs to the alice of the password, so she is turned away
	// unless she links the account when she is signed in.
	{Subject: "alice", Name: "Alice Liddell", Email: aliceEmail, EmailVerified: true},
	{Subject: "guest", Name: "Guest"}, // without an e-mail
}

// What the demo and its identity provider know each other by.
const (
	clientID     = "latchkey-demo"
	clientSecret = "open sesame"
)

func startIssuer() (*latchkeytest.Issuer, error) {
	return latchkeytest.StartIssuer(latchkeytest.IssuerConfig{
		ClientID: clientID, ClientSecret: clientSecret, Algorithm: "ES256", People: people,
	})
}

// alice finds the stored user of the password, or makes her: she may have
// deleted her account.
func alice(ctx context.Context, a storage.Adapter) (latchkey.User, error) {
	u, err := a.GetUserByEmail(ctx, aliceEmail)
	if !errors.Is(err, latchkey.ErrNotFound) {
		return u, err
	}
	u, err = a.CreateUser(ctx, latchkey.User{Name: "Alice", Email: aliceEmail, EmailVerified: time.Now()})
	if errors.Is(err, latchkey.ErrConflict) { // another demo was quicker
		return a.GetUserByEmail(ctx, aliceEmail)
	}
	return u, err
}

// checkPassword returns alice and makes her staff, or returns ErrCredentialsSignin. A wrong
// name takes as long as a wrong password. A real site compares a slow hash.
func (d *site) checkPassword(ctx context.Context, fields map[string]string, _ *latchkey.Request) (latchkey.User, error) {
	name := subtle.ConstantTimeCompare([]byte(fields["username"]), []byte(aliceName))
	password := subtle.ConstantTimeCompare([]byte(fields["password"]), []byte(alicePassword))
	if name&password != 1 {
		return latchkey.User{}, latchkey.ErrCredentialsSignin
	}
	u, err := alice(ctx, d.store)
	if err == nil {
		d.staff.add(u.ID)
	}
	return u, err
}
