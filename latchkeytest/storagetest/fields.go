package storagetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// The promises of this file are about fields that a store need not keep. One
// that does not, because its tables have no column for them, names the promises
// in the except of [Adapter]. What was not written reads back empty in any
// store: the other promises prove that.

var accountFieldPromises = []promise[accountStore]{
	{"the e-mail address that came with an account survives", func(t *testing.T, a accountStore) {
		u := newUser(t, a, "ada@example.com")
		for id, want := range map[string]storage.Account{
			"vouched":     {Email: "ada@work.example", EmailVouched: true},
			"not vouched": {Email: "ada@example.com"},
			"long":        {Email: strings.Repeat("a", 64) + "@" + strings.Repeat("b", 185) + ".com", EmailVouched: true},
		} {
			want.UserID, want.Provider, want.ProviderAccountID, want.Type = u.ID, "acme", id, storage.TypeOIDC
			ok(t, a.LinkAccount(t.Context(), want))
			readAccount(t, a, want)
			got, err := a.UnlinkAccount(t.Context(), "acme", id)
			ok(t, err)
			same(t, "unlinked account", got, want)
		}
	}},
}

// openedSession has something in every field.
func openedSession(u storage.User, token string) storage.StoredSession {
	return storage.StoredSession{
		Token: token, UserID: u.ID, Expires: instant, Created: instant.Add(-time.Hour), UserAgent: "Firefox",
		Tenant: "tenant.example", Provider: "acme",
		ProviderSID: strings.Repeat("5", 64), ProviderSub: strings.Repeat("f", 64), ProviderIssued: instant.Add(-2 * time.Hour),
		Sealed: strings.Repeat("e.", 10<<10),
		Proved: instant.Add(-time.Minute), AMR: []string{"pwd", "otp", "mfa"}, ACR: "urn:example:silver",
	}
}

var sessionFieldPromises = []promise[sessionStore]{
	{"how a session was opened survives", func(t *testing.T, a sessionStore) {
		u := newUser(t, a, "ada@example.com")
		want := openedSession(u, "t")
		ok(t, a.CreateSession(t.Context(), want))
		readSession(t, a, want, u)
		if able, can := a.(storage.SessionListAdapter); can {
			listed, err := able.ListSessions(t.Context(), u.ID)
			ok(t, err)
			if len(listed) != 1 {
				t.Fatalf("ListSessions: %d sessions, want 1", len(listed))
			}
			hidden := want
			hidden.Token = ""
			sameSession(t, "listed session", listed[0], hidden)
		}
		got, err := a.DeleteSession(t.Context(), "t")
		ok(t, err)
		sameSession(t, "deleted session", got, want)
	}},
	{"a renewal keeps how the session was opened", func(t *testing.T, a sessionStore) {
		u := newUser(t, a, "")
		want := openedSession(u, "t")
		ok(t, a.CreateSession(t.Context(), want))
		want.Expires = want.Expires.Add(time.Hour)
		ok(t, a.UpdateSession(t.Context(), "t", want.Expires))
		readSession(t, a, want, u)
	}},
	{"records are copies", func(t *testing.T, a sessionStore) {
		u := newUser(t, a, "")
		in := storage.StoredSession{Token: "t", UserID: u.ID, Expires: instant, AMR: []string{"pwd", "otp"}}
		want := in
		want.AMR = slices.Clone(in.AMR)
		ok(t, a.CreateSession(t.Context(), in))
		in.AMR[0] = "spoiled"
		out, _, err := a.GetSessionAndUser(t.Context(), "t")
		ok(t, err)
		sameSession(t, "session", out, want)
		clear(out.AMR)
		readSession(t, a, want, u)
	}},
}

var tokenFieldPromises = []promise[tokenStore]{
	{"what a token is for survives", func(t *testing.T, a tokenStore) {
		want := storage.VerificationToken{Identifier: "ada@example.com", Token: "t", Expires: instant, Purpose: "invite"}
		ok(t, a.CreateVerificationToken(t.Context(), want))
		got, err := a.UseVerificationToken(t.Context(), want.Identifier, want.Token)
		ok(t, err)
		same(t, "used token", got, want)
	}},
}

var authenticatorFieldPromises = []promise[authenticatorStore]{
	{"name, model and dates of a passkey survive", func(t *testing.T, a authenticatorStore) {
		u := newUser(t, a, "")
		for i, name := range append([]string{"", "Ada's key"}, unicode...) {
			want := storage.Authenticator{
				CredentialID: []byte{byte(i)}, UserID: u.ID, ProviderAccountID: "AA==", PublicKey: []byte("cose"), DeviceType: "singleDevice",
				Name: name, AAGUID: "d8522d9f-575b-4866-88a9-ba99fa02f35b", Created: instant, Used: instant.Add(time.Duration(i) * time.Hour), UserHandle: []byte{0xff, byte(i)},
			}
			ok(t, a.CreateAuthenticator(t.Context(), want))
			readAuthenticator(t, a, want)
			lent, err := a.GetAuthenticator(t.Context(), want.CredentialID)
			ok(t, err)
			lent.UserHandle[0] = 'x'
			readAuthenticator(t, a, want)
			listed, err := a.ListAuthenticators(t.Context(), u.ID)
			ok(t, err)
			if len(listed) != 1 {
				t.Fatalf("ListAuthenticators: %d, want 1", len(listed))
			}
			same(t, "listed passkey", listed[0], want)
			want.Counter = 7
			got, err := a.UpdateAuthenticatorCounter(t.Context(), want.CredentialID, want.Counter)
			ok(t, err)
			same(t, "updated passkey", got, want)
			renamed, used := "my "+name, instant.Add(-time.Minute)
			want.Name, want.Used = renamed, used
			got, err = a.UpdateAuthenticator(t.Context(), want.CredentialID, storage.AuthenticatorChange{Name: &renamed, Used: &used})
			ok(t, err)
			same(t, "renamed passkey", got, want)
			readAuthenticator(t, a, want)
			ok(t, a.DeleteAuthenticator(t.Context(), want.CredentialID))
		}
	}},
}
