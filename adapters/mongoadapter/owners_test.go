package mongoadapter_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkeyhq/latchkey/adapters/mongoadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestForeignIDs: an id that users cannot have finds nobody, what it was made into
// does; and sessions keep the ids of users who are kept elsewhere.
func TestForeignIDs(t *testing.T) {
	a := newAdapter(t, start(t).migrated(t), mongoadapter.Options{})
	ctx := t.Context()
	u, err := a.CreateUser(ctx, storage.User{ID: "chosen"})
	ok(t, err)
	_, err = a.GetUser(ctx, "chosen")
	is(t, "GetUser", err, storage.ErrNotFound)
	_, err = a.UpdateUser(ctx, "chosen", storage.UserChange{})
	is(t, "UpdateUser", err, storage.ErrNotFound)
	_, err = a.DeleteUser(ctx, "chosen")
	is(t, "DeleteUser", err, storage.ErrNotFound)
	is(t, "LinkAccount", a.LinkAccount(ctx, storage.Account{UserID: "chosen", Provider: "acme"}), storage.ErrNotFound)
	for token, owner := range map[string]string{"theirs": "chosen", "ours": u.ID} {
		ok(t, a.CreateSession(ctx, storage.StoredSession{Token: token, UserID: owner}))
		if s, err := a.GetSession(ctx, token); err != nil || s.UserID != owner {
			t.Errorf("%s belongs to %q, error %v", token, s.UserID, err)
		}
		if list, err := a.ListSessions(ctx, owner); err != nil || len(list) != 1 || list[0].UserID != owner {
			t.Errorf("%s: %d sessions, error %v", token, len(list), err)
		}
	}
	_, _, err = a.GetSessionAndUser(ctx, "theirs")
	is(t, "GetSessionAndUser", err, storage.ErrNotFound)
	if n, err := a.DeleteSessions(ctx, "chosen", ""); err != nil || n != 1 {
		t.Errorf("%d sessions deleted, error %v", n, err)
	}
	_, _, err = a.GetSessionAndUser(ctx, "ours")
	ok(t, err)
}

// TestLeftBehind: what belongs to nobody opens nothing and holds nothing.
func TestLeftBehind(t *testing.T) {
	s := start(t)
	db := s.migrated(t)
	a := newAdapter(t, db, mongoadapter.Options{})
	for name, doc := range map[string]bson.D{
		"accounts":       {{Key: "provider", Value: "acme"}, {Key: "providerAccountId", Value: "1"}, {Key: "userId", Value: bson.NewObjectID()}},
		"authenticators": {{Key: "credentialID", Value: "a2V5"}, {Key: "userId", Value: bson.NewObjectID()}},
	} {
		_, err := db.Collection(name).InsertOne(t.Context(), doc)
		ok(t, err)
	}
	_, err := a.GetAccount(t.Context(), "acme", "1")
	is(t, "GetAccount", err, storage.ErrNotFound)
	_, err = a.GetUserByAccount(t.Context(), "acme", "1")
	is(t, "GetUserByAccount", err, storage.ErrNotFound)
	_, err = a.GetAuthenticator(t.Context(), []byte("key"))
	is(t, "GetAuthenticator", err, storage.ErrNotFound)
	u, err := a.CreateUser(t.Context(), storage.User{})
	ok(t, err)
	ok(t, a.LinkAccount(t.Context(), storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1"}))
	ok(t, a.CreateAuthenticator(t.Context(), storage.Authenticator{UserID: u.ID, CredentialID: []byte("key")}))
	is(t, "LinkAccount of nobody", a.LinkAccount(t.Context(), storage.Account{UserID: bson.NewObjectID().Hex(), Provider: "acme", ProviderAccountID: "2"}), storage.ErrNotFound)
	if n, err := db.Collection("accounts").CountDocuments(t.Context(), bson.D{}); err != nil || n != 1 {
		t.Errorf("%d accounts, want 1, error %v", n, err)
	}
}

// before returns an adapter on db that calls do before it sends the nth command of those
// after the first one with the given name, and a function that tells whether it did.
func (s *server) before(t *testing.T, db *mongo.Database, after string, n int, do func()) (a *mongoadapter.Adapter, done func() bool) {
	t.Helper()
	seen := -1
	monitor := &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		if e.CommandName != "endSessions" && (seen >= 0 || e.CommandName == after) {
			seen++
		}
		if seen == n {
			seen++ // each command counts once
			do()
		}
	}}
	client, err := mongo.Connect(options.Client().ApplyURI(s.URL).SetMonitor(monitor))
	ok(t, err)
	t.Cleanup(func() { _ = client.Disconnect(context.WithoutCancel(t.Context())) })
	return newAdapter(t, client.Database(db.Name()), mongoadapter.Options{}), func() bool { return seen > n }
}

// a deletion takes nothing from the user who gets the id of the deleted one, at
// whatever step a resumed sign-up makes that user.
func TestDeletionBesideResumedSignUp(t *testing.T) {
	s := start(t)
	db := s.migrated(t)
	other, ctx := newAdapter(t, db, mongoadapter.Options{}), t.Context()
	for n := 1; ; n++ {
		u, err := other.CreateUser(ctx, storage.User{})
		ok(t, err)
		account := func(id string) storage.Account {
			return storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: u.ID + id}
		}
		ok(t, other.LinkAccount(ctx, account("old")))
		ok(t, other.CreateSession(ctx, storage.StoredSession{Token: u.ID, UserID: u.ID}))
		a, done := s.before(t, db, "findAndModify", n, func() {
			_, err := other.CreateUser(ctx, storage.User{ID: u.ID})
			ok(t, err)
			ok(t, other.LinkAccount(ctx, account("new")))
		})
		if _, err := a.DeleteUser(ctx, u.ID); err != nil && !errors.Is(err, storage.ErrNotFound) {
			t.Fatal(err)
		}
		if !done() {
			break
		}
		if _, err := other.GetUserByAccount(ctx, "acme", u.ID+"new"); err != nil {
			t.Errorf("a user made before command %d has lost the account: %v", n, err)
		}
		_, err = other.GetAccount(ctx, "acme", u.ID+"old")
		is(t, "the account of the deleted user", err, storage.ErrNotFound)
	}
}

// an address is free if its holder is deleted after the call has met them, at
// whatever step.
func TestHolderGoneMeanwhile(t *testing.T) {
	s := start(t)
	db := s.migrated(t)
	other, ctx := newAdapter(t, db, mongoadapter.Options{}), t.Context()
	for n := 1; ; n++ {
		email := fmt.Sprintf("ada%d@example.com", n)
		holder, err := other.CreateUser(ctx, storage.User{Email: email})
		ok(t, err)
		a, done := s.before(t, db, "insert", n, func() {
			_, err := other.DeleteUser(ctx, holder.ID)
			ok(t, err)
		})
		_, err = a.CreateUser(ctx, storage.User{Email: email})
		if !done() {
			is(t, "an address that is taken", err, storage.ErrConflict)
			break
		}
		if err != nil {
			t.Errorf("the holder is deleted before command %d: %v", n, err)
		}
	}
}

func is(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got error %v, want %v", what, err, want)
	}
}
