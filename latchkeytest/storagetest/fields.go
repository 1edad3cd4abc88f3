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
// in the except of [TestAdapter]. What was not written reads back empty in any
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

var sessionFieldPromises = []promise[sessionStore]{
	{"how a session was opened survives", func(t *testing.T, a sessionStore) {
		u := newUser(t, a, "ada@example.com")
		want := filledSession(u, "t")
		ok(t, a.CreateSession(t.Context(), want))
		readWholeSession(t, a, want, u)
		if able, can := a.(storage.SessionListAdapter); can {
			listed, err := able.ListSessions(t.Context(), u.ID)
			ok(t, err)
			if len(listed) != 1 {
				t.Fatalf("ListSessions: %d sessions, want 1", len(listed))
			}
			hidden := want
			hidden.Token = ""
			sameWholeSession(t, "listed session", listed[0], hidden)
		}
		got, err := a.DeleteSession(t.Context(), "t")
		ok(t, err)
		sameWholeSession(t, "deleted session", got, want)
	}},
	{"a renewal keeps how the session was opened", func(t *testing.T, a sessionStore) {
		u := newUser(t, a, "")
		want := filledSession(u, "t")
		ok(t, a.CreateSession(t.Context(), want))
		want.Expires = want.Expires.Add(time.Hour)
		ok(t, a.UpdateSession(t.Context(), "t", want.Expires))
		readWholeSession(t, a, want, u)
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

func readWholeSession(t *testing.T, a sessionStore, want storage.StoredSession, owner storage.User) {
	t.Helper()
	got, u, err := a.GetSessionAndUser(t.Context(), want.Token)
	ok(t, err)
	sameWholeSession(t, "session", got, want)
	same(t, "its user", u, owner)
}

// sameWholeSession fails the test unless got has all fields of want but the id.
func sameWholeSession(t *testing.T, what string, got, want storage.StoredSession) {
	t.Helper()
	want.ID = got.ID
	same(t, what, got, want)
}

var tokenFieldPromises = []promise[tokenStore]{
	{"what a token is for survives", func(t *testing.T, a tokenStore) {
		want := filled(func(v *storage.VerificationToken) { v.Identifier = "ada@example.com" })
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
			want := filledAuthenticator(u, []byte{byte(i)})
			want.Name, want.Created, want.Used = name, instant, instant.Add(time.Duration(i)*time.Hour)
			ok(t, a.CreateAuthenticator(t.Context(), want))
			readAuthenticator(t, a, want)
			lent, err := a.GetAuthenticator(t.Context(), want.CredentialID)
			ok(t, err)
			clear(lent.UserHandle)
			readAuthenticator(t, a, want)
			listed, err := a.ListAuthenticators(t.Context(), u.ID)
			ok(t, err)
			if len(listed) != 1 {
				t.Fatalf("ListAuthenticators: %d, want 1", len(listed))
			}
			same(t, "listed passkey", listed[0], want)
			want.Counter = 70
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
