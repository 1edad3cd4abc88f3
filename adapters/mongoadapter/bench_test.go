package mongoadapter_test

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/latchkeyhq/latchkey/adapters/mongoadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/internal/turns"
	"github.com/latchkeyhq/latchkey/storage"
)

// populated has n users with one session each; their tokens are "t0", "t1", ….
func populated(b *testing.B, n int) (*mongo.Database, *mongoadapter.Adapter) {
	b.Helper()
	db := start(b).migrated(b)
	users, sessions := make([]any, n), make([]any, n)
	expires := time.Now().Add(time.Hour)
	for i := range n {
		id := bson.NewObjectID()
		users[i] = bson.D{{Key: "_id", Value: id}, {Key: "name", Value: "Name"}, {Key: "email", Value: fmt.Sprintf("u%d@example.com", i)}}
		sessions[i] = bson.D{{Key: "sessionToken", Value: fmt.Sprint("t", i)}, {Key: "userId", Value: id}, {Key: "expires", Value: expires}}
	}
	for name, docs := range map[string][]any{"users": users, "sessions": sessions} {
		_, err := db.Collection(name).InsertMany(b.Context(), docs)
		ok(b, err)
	}
	return db, newAdapter(b, db, mongoadapter.Options{PlainTokens: true})
}

// token walks through all documents in an order that caches cannot guess.
func token(i, n int) string { return "t" + strconv.Itoa(i*7919%n) }

// BenchmarkSessionRead compares reading a stored session to its two bare finds.
// FerretDB looks at all documents, so more of them would only measure that.
func BenchmarkSessionRead(b *testing.B) {
	const n = 100
	db, a := populated(b, n)
	turns.Compare(b, func(i int) error {
		_, _, err := a.GetSessionAndUser(b.Context(), token(i, n))
		return err
	}, func(i int) error {
		var session struct {
			UserID  bson.ObjectID `bson:"userId"`
			Expires time.Time
		}
		var user struct{ Name, Email string }
		if err := db.Collection("sessions").FindOne(b.Context(), bson.D{{Key: "sessionToken", Value: token(i, n)}}).Decode(&session); err != nil {
			return err
		}
		return db.Collection("users").FindOne(b.Context(), bson.D{{Key: "_id", Value: session.UserID}}).Decode(&user)
	})
}

// BenchmarkTake compares counting an event to the two bare calls that it takes.
func BenchmarkTake(b *testing.B) {
	db := start(b).migrated(b)
	a := newAdapter(b, db, mongoadapter.Options{})
	limits := db.Collection("bare")
	_, err := limits.InsertOne(b.Context(), bson.D{{Key: "_id", Value: "k"}, {Key: "full", Value: int64(0)}})
	ok(b, err)
	turns.Compare(b, func(int) error {
		_, err := a.Take(b.Context(), "k", storage.Rate{Events: 1 << 30, Per: time.Hour})
		return err
	}, func(int) error {
		if err := limits.FindOne(b.Context(), bson.D{{Key: "_id", Value: "k"}}).Err(); err != nil {
			return err
		}
		_, err := limits.UpdateOne(b.Context(), bson.D{{Key: "_id", Value: "k"}}, bson.D{{Key: "$inc", Value: bson.D{{Key: "full", Value: int64(1)}}}})
		return err
	})
}

// BenchmarkSignUp is what a new person costs: it counts the calls of the server.
func BenchmarkSignUp(b *testing.B) {
	s := start(b)
	a := newAdapter(b, s.migrated(b), mongoadapter.Options{})
	var calls atomic.Int64
	s.Meet(func(string) realservers.Fate {
		calls.Add(1)
		return realservers.Passed
	})
	i := 0
	for ; b.Loop(); i++ {
		account := strconv.Itoa(i)
		id, err := a.BeginSignUp(b.Context(), "acme", account, "user "+account)
		ok(b, err)
		u, err := a.CreateUser(b.Context(), storage.User{ID: id, Email: account + "@example.com"})
		ok(b, err)
		ok(b, a.LinkAccount(b.Context(), storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: account}))
		ok(b, a.EndSignUp(b.Context(), "acme", account))
		ok(b, a.CreateSession(b.Context(), storage.StoredSession{Token: account, UserID: u.ID, Expires: time.Now()}))
	}
	b.ReportMetric(float64(calls.Load())/float64(i), "calls/op")
}
