package mongoadapter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/latchkeyhq/latchkey/adapters/mongoadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/storage"
)

type (
	peer   = realservers.Peer
	record = map[string]any
)

// wants compares what a record has under each key of want, as text.
func wants(t *testing.T, what string, got, want record) {
	t.Helper()
	if got == nil {
		t.Errorf("%s: none", what)
	}
	for key, value := range want {
		if fmt.Sprint(got[key]) != fmt.Sprint(value) {
			t.Errorf("%s: %s is %v, want %v", what, key, got[key], value)
		}
	}
}

const iso = "2006-01-02T15:04:05.000Z"

var moment = time.Date(2031, 5, 17, 22, 30, 15, 123e6, time.UTC)

// TestSharedWithAuthJS: S-012, both work on one database at the same time.
func TestSharedWithAuthJS(t *testing.T) {
	s := start(t)
	db := s.migrated(t)
	js := realservers.NewPeer(t, "js", "@auth/mongodb-adapter", s.URL, db.Name())
	a := newAdapter(t, db, mongoadapter.Options{PlainTokens: true})
	t.Run("they write, we read", func(t *testing.T) { theyWrite(t, js, a) })
	t.Run("we write, they read", func(t *testing.T) { weWrite(t, js, a) })
	t.Run("each changes what the other wrote", func(t *testing.T) { bothChange(t, js, a, db) })
	t.Run("without them tokens are hashed", func(t *testing.T) { theyLeave(t, js, a, db) })
}

func theyWrite(t *testing.T, js *peer, a *mongoadapter.Adapter) {
	ctx := t.Context()
	// null and absent both occur: image is one, nothing else is said of the other.
	made := js.Call(t, "createUser", record{"name": "Ada", "email": "ada@example.com", "emailVerified": moment.Format(iso), "image": nil, "role": "admin", "logins": 3})
	id := fmt.Sprint(made["id"])
	js.Call(t, "linkAccount", record{
		"userId": id, "provider": "github", "type": "oauth", "providerAccountId": "42", "access_token": "at",
		"expires_at": 4102444800, "refresh_token": "rt", "id_token": "it", "scope": "read", "session_state": "ss", "token_type": "bearer", "realm_id": 9,
	})
	js.Call(t, "createSession", record{"userId": id, "expires": moment.Format(iso), "sessionToken": "their session"})
	js.Call(t, "createVerificationToken", record{"identifier": "ada@example.com", "token": "their token", "expires": moment.Format(iso)})

	want := storage.User{ID: id, Name: "Ada", Email: "ada@example.com", EmailVerified: moment, Extra: map[string]any{"role": "admin", "logins": json.Number("3")}}
	for what, get := range map[string]func() (storage.User, error){
		"by id":      func() (storage.User, error) { return a.GetUser(ctx, id) },
		"by e-mail":  func() (storage.User, error) { return a.GetUserByEmail(ctx, "ada@example.com") },
		"by account": func() (storage.User, error) { return a.GetUserByAccount(ctx, "github", "42") },
	} {
		if u, err := get(); err != nil || fmt.Sprint(u) != fmt.Sprint(want) {
			t.Errorf("%s: %v, error %v, want %v", what, u, err, want)
		}
	}
	account, err := a.GetAccount(ctx, "github", "42")
	ok(t, err)
	account.ID = ""
	wantAccount := storage.Account{UserID: id, Provider: "github", ProviderAccountID: "42", Type: storage.TypeOAuth, Extra: map[string]any{"realm_id": json.Number("9")}, Tokens: storage.Tokens{
		AccessToken: "at", RefreshToken: "rt", IDToken: "it", TokenType: "bearer", Scope: "read", SessionState: "ss", ExpiresAt: time.Unix(4102444800, 0).UTC(), // kept as a double: it is past 2038
	}}
	if fmt.Sprint(account) != fmt.Sprint(wantAccount) || account.Tokens.AccessToken != "at" || !account.Tokens.ExpiresAt.Equal(wantAccount.Tokens.ExpiresAt) {
		t.Errorf("account %v, want %v", account, wantAccount)
	}
	s, u, err := a.GetSessionAndUser(ctx, "their session")
	if err != nil || s.UserID != id || !s.Expires.Equal(moment) || u.ID != id {
		t.Errorf("session %v of %v, error %v", s, u, err)
	}
	token, err := a.UseVerificationToken(ctx, "ada@example.com", "their token")
	if err != nil || !token.Expires.Equal(moment) {
		t.Errorf("verification token until %v, error %v", token.Expires, err)
	}
	if js.Call(t, "useVerificationToken", record{"identifier": "ada@example.com", "token": "their token"}) != nil {
		t.Error("a token was used twice")
	}
}

func weWrite(t *testing.T, js *peer, a *mongoadapter.Adapter) {
	ctx := t.Context()
	u, err := a.CreateUser(ctx, storage.User{ID: "a UUID of the application", Name: "Eve", Email: "eve@example.com", EmailVerified: moment, Image: "i", Extra: map[string]any{"role": "guest"}})
	ok(t, err)
	ok(t, a.LinkAccount(ctx, storage.Account{UserID: u.ID, Provider: "github", ProviderAccountID: "43", Type: storage.TypeOAuth, Tokens: storage.Tokens{AccessToken: "at"}, Email: "eve@example.com", EmailVouched: true}))
	ok(t, a.CreateSession(ctx, storage.StoredSession{ID: "an id", Token: "our session", UserID: u.ID, Expires: moment, UserAgent: "Firefox", AMR: []string{"pwd"}}))
	ok(t, a.CreateVerificationToken(ctx, storage.VerificationToken{Identifier: "eve@example.com", Token: "our token", Expires: moment}))

	want := record{"id": u.ID, "name": "Eve", "email": "eve@example.com", "emailVerified": moment.Format(iso), "image": "i", "role": "guest"}
	wants(t, "by id", js.Call(t, "getUser", u.ID), want)
	wants(t, "by e-mail", js.Call(t, "getUserByEmail", "eve@example.com"), want)
	wants(t, "by account", js.Call(t, "getUserByAccount", record{"provider": "github", "providerAccountId": "43"}), want)
	both := js.Call(t, "getSessionAndUser", "our session")
	wants(t, "session", both["session"].(record), record{"sessionToken": "our session", "userId": u.ID, "expires": moment.Format(iso)})
	wants(t, "its user", both["user"].(record), want)
	wants(t, "verification token", js.Call(t, "useVerificationToken", record{"identifier": "eve@example.com", "token": "our token"}),
		record{"identifier": "eve@example.com", "token": "our token", "expires": moment.Format(iso)})
	if _, err := a.UseVerificationToken(ctx, "eve@example.com", "our token"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a token was used twice: %v", err)
	}
}

func bothChange(t *testing.T, js *peer, a *mongoadapter.Adapter, db *mongo.Database) {
	ctx := t.Context()
	ada, err := a.GetUserByEmail(ctx, "ada@example.com")
	ok(t, err)
	_, err = a.UpdateUser(ctx, ada.ID, storage.UserChange{Name: new("Countess")})
	ok(t, err)
	wants(t, "changed user", js.Call(t, "updateUser", record{"id": ada.ID, "image": "new"}), record{"name": "Countess", "image": "new", "email": "ada@example.com", "role": "admin"})
	later := moment.Add(time.Hour)
	ok(t, a.UpdateSession(ctx, "their session", later))
	wants(t, "renewed session", js.Call(t, "getSessionAndUser", "their session")["session"].(record), record{"expires": later.Format(iso)})
	js.Call(t, "updateSession", record{"sessionToken": "our session", "expires": later.Format(iso)})
	s, eve, err := a.GetSessionAndUser(ctx, "our session")
	if err != nil || !s.Expires.Equal(later) || s.ID != "an id" || s.UserAgent != "Firefox" || !slices.Equal(s.AMR, []string{"pwd"}) {
		t.Errorf("session %q of %q by %v until %v, error %v", s.ID, s.UserAgent, s.AMR, s.Expires, err)
	}
	if account, err := a.GetAccount(ctx, "github", "43"); err != nil || !account.EmailVouched {
		t.Errorf("account %v, error %v", account, err)
	}
	// Nothing was made twice.
	for name, want := range map[string]int64{"users": 2, "accounts": 2, "sessions": 2, "verification_tokens": 0} {
		if n, err := db.Collection(name).CountDocuments(ctx, bson.D{}); err != nil || n != want {
			t.Errorf("%s: %d documents, want %d, error %v", name, n, want, err)
		}
	}
	_, err = a.DeleteSession(ctx, "their session")
	ok(t, err)
	js.Call(t, "deleteSession", "our session")
	if js.Call(t, "getSessionAndUser", "their session") != nil {
		t.Error("we deleted a session that they still find")
	}
	if _, _, err := a.GetSessionAndUser(ctx, "our session"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("they deleted a session that we still find: %v", err)
	}
	_, err = a.DeleteUser(ctx, ada.ID)
	ok(t, err)
	if js.Call(t, "getUserByAccount", record{"provider": "github", "providerAccountId": "42"}) != nil {
		t.Error("we deleted a user that they still find")
	}
	js.Call(t, "deleteUser", eve.ID)
	if _, err := a.GetUserByAccount(ctx, "github", "43"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("they deleted a user that we still find: %v", err)
	}
}

// theyLeave: what they have stored plain is hashed when it is next read, and a hash
// from a copy of the database opens nothing.
func theyLeave(t *testing.T, js *peer, a *mongoadapter.Adapter, db *mongo.Database) {
	ctx := t.Context()
	made := js.Call(t, "createUser", record{"name": "Mallory", "email": "mallory@example.com", "emailVerified": nil})
	js.Call(t, "createSession", record{"userId": made["id"], "expires": moment.Format(iso), "sessionToken": "plain"})
	hashing := newAdapter(t, db, mongoadapter.Options{})
	for range 2 {
		if s, u, err := hashing.GetSessionAndUser(ctx, "plain"); err != nil || s.Token != "plain" || u.Email != "mallory@example.com" || !u.EmailVerified.IsZero() {
			t.Errorf("session %v of %v, error %v", s, u, err)
		}
		var kept struct{ SessionToken string }
		ok(t, db.Collection("sessions").FindOne(ctx, bson.D{}).Decode(&kept))
		for _, copied := range []string{kept.SessionToken} {
			if copied == "plain" {
				t.Error("the token is kept as it is")
			}
			for _, either := range []*mongoadapter.Adapter{hashing, a} {
				if _, err := either.GetSession(ctx, copied); !errors.Is(err, storage.ErrNotFound) {
					t.Errorf("a hash opened a session: %v", err)
				}
			}
		}
	}
	ok(t, hashing.UpdateSession(ctx, "plain", moment.Add(time.Minute)))
	_, err := hashing.DeleteSession(ctx, "plain")
	ok(t, err)
}
