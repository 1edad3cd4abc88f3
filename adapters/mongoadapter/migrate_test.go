package mongoadapter_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/latchkeyhq/latchkey/adapters/mongoadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestMigrate meets a database that is new, one that is ready, and one whose
// documents break rules.
func TestMigrate(t *testing.T) {
	s := start(t)
	db := s.empty()
	a := newAdapter(t, db, mongoadapter.Options{})
	nobody := bson.NewObjectID().Hex()
	additions := map[string]func() error{
		"CreateUser":              func() error { _, err := a.CreateUser(t.Context(), storage.User{Email: "ada@example.com"}); return err },
		"LinkAccount":             func() error { return a.LinkAccount(t.Context(), storage.Account{UserID: nobody, Provider: "p"}) },
		"CreateSession":           func() error { return a.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: "u"}) },
		"CreateVerificationToken": func() error { return a.CreateVerificationToken(t.Context(), storage.VerificationToken{Token: "t"}) },
		"CreateAuthenticator": func() error {
			return a.CreateAuthenticator(t.Context(), storage.Authenticator{CredentialID: []byte("k"), UserID: nobody})
		},
	}
	for name, add := range additions {
		if err := add(); !errors.Is(err, mongoadapter.ErrNotMigrated) || !strings.Contains(err.Error(), "Migrate forgotten") {
			t.Errorf("%s without Migrate: %v", name, err)
		}
	}
	if err := mongoadapter.Check(t.Context(), db, mongoadapter.Options{}); !errors.Is(err, mongoadapter.ErrNotMigrated) || !strings.Contains(err.Error(), "users, accounts, sessions") {
		t.Errorf("Check without Migrate: %v", err)
	}
	for range 2 {
		ok(t, mongoadapter.Migrate(t.Context(), db, mongoadapter.Options{}))
		ok(t, mongoadapter.Check(t.Context(), db, mongoadapter.Options{}))
		lacking, err := mongoadapter.Warnings(t.Context(), db, mongoadapter.Options{})
		ok(t, err)
		// What FerretDB has not is named, once for each collection.
		if text := strings.Join(lacking, "\n"); len(lacking) != 8 || !strings.Contains(text, "users: a partial index") || !strings.Contains(text, "sessions: the removal of what has expired") || strings.Contains(text, "userId") {
			t.Errorf("lacking:\n%s", text)
		}
	}
	for name, add := range additions {
		if err := add(); err != nil && !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%s after Migrate: %v", name, err)
		}
	}
}

// TestMigrateBesideOtherIndexes is R-844: an index that an administrator has made keeps the
// rule as well.
func TestMigrateBesideOtherIndexes(t *testing.T) {
	db := start(t).empty()
	users := db.Collection("users").Indexes()
	_, err := users.CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "email", Value: 1}}, Options: options.Index().SetUnique(true).SetName("of_addresses")})
	ok(t, err)
	ok(t, mongoadapter.Migrate(t.Context(), db, mongoadapter.Options{}))
	ok(t, mongoadapter.Check(t.Context(), db, mongoadapter.Options{}))
	if found, err := users.ListSpecifications(t.Context()); err != nil || len(found) != 2 { // with that of _id
		t.Errorf("R-844 %d indexes, %v", len(found), err)
	}
}

func TestMigrateNamesViolations(t *testing.T) {
	s := start(t)
	db := s.empty()
	for _, email := range []any{"ada@example.com", "ada@example.com", "eve@example.com", "eve@example.com", "", "", nil, nil, "bob@example.com"} {
		_, err := db.Collection("users").InsertOne(t.Context(), bson.D{{Key: "email", Value: email}})
		ok(t, err)
	}
	for range 2 {
		_, err := db.Collection("accounts").InsertOne(t.Context(), bson.D{{Key: "provider", Value: "github"}, {Key: "providerAccountId", Value: "secret"}})
		ok(t, err)
	}
	err := mongoadapter.Migrate(t.Context(), db, mongoadapter.Options{})
	broken, is := errors.AsType[*mongoadapter.ViolationError](err)
	if !is || len(broken.Violations) != 2 || broken.Violations[0] != (mongoadapter.Violation{Collection: "users", Rule: "e-mail addresses are unique", Values: 2}) || broken.Violations[1].Values != 1 {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(err.Error(), "e-mail addresses are unique") {
		t.Errorf("the error names no rule: %v", err)
	}
	if text := broken.Error() + err.Error(); strings.Contains(text, "secret") || strings.Contains(text, "example.com") {
		t.Errorf("the error quotes documents: %s", text)
	}
	found, err := db.ListCollectionNames(t.Context(), bson.D{})
	if err != nil || len(found) != 2 {
		t.Errorf("Migrate has made something: %v, error %v", found, err)
	}
}

// TestConcerns: what the client prefers does not count.
func TestConcerns(t *testing.T) {
	s := start(t)
	type concerns struct {
		ReadConcern  struct{ Level string }
		WriteConcern struct{ W any }
	}
	seen := map[string]concerns{}
	client, err := mongo.Connect(options.Client().ApplyURI(s.URL).SetReadConcern(readconcern.Local()).SetWriteConcern(writeconcern.W1()).
		SetMonitor(&event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
			var c concerns
			if bson.Unmarshal(e.Command, &c) == nil {
				seen[e.CommandName] = c
			}
		}}))
	ok(t, err)
	defer func() { _ = client.Disconnect(context.WithoutCancel(t.Context())) }()
	a := newAdapter(t, client.Database(s.migrated(t).Name()), mongoadapter.Options{})
	u, err := a.CreateUser(t.Context(), storage.User{})
	ok(t, err)
	ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: u.ID}))
	ok(t, a.UpdateSession(t.Context(), "t", time.Now()))
	_, err = a.DeleteSession(t.Context(), "t")
	ok(t, err)
	_, err = a.GetUser(t.Context(), u.ID)
	ok(t, err)
	_, err = a.DeleteSessions(t.Context(), u.ID, "")
	ok(t, err)
	for _, command := range []string{"insert", "update", "delete", "findAndModify"} {
		if w := seen[command].WriteConcern.W; w != "majority" {
			t.Errorf("%s has the write concern %v", command, w)
		}
	}
	if level := seen["find"].ReadConcern.Level; level != "majority" {
		t.Errorf("find has the read concern %q", level)
	}
}

func TestNewNeedsADatabase(t *testing.T) {
	if _, err := mongoadapter.New(nil, mongoadapter.Options{}); err == nil {
		t.Error("a nil database was accepted")
	}
	if err := mongoadapter.Migrate(t.Context(), nil, mongoadapter.Options{}); err == nil {
		t.Error("a nil database was migrated")
	}
	if _, err := mongoadapter.Warnings(t.Context(), nil, mongoadapter.Options{}); err == nil {
		t.Error("a nil database was checked")
	}
}

// TestErrorsTellNothing: neither values nor what leads to the server.
func TestErrorsTellNothing(t *testing.T) {
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://secretuser:secretpassword@127.0.0.1:1/?serverSelectionTimeoutMS=1"))
	ok(t, err)
	defer func() { _ = client.Disconnect(context.WithoutCancel(t.Context())) }()
	a := newAdapter(t, client.Database("secretname"), mongoadapter.Options{})
	_, err = a.GetUserByEmail(t.Context(), "secret@example.com")
	if err == nil || strings.Contains(err.Error(), "secret") || errors.Is(err, storage.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}
