package mongoadapter_test

import (
	"context"
	"errors"
	"log"
	"os"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/mongoadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

func Example() {
	ctx := context.Background()
	client, err := mongo.Connect(options.Client().ApplyURI(os.Getenv("MONGODB_URI")))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Disconnect(ctx)
	db := client.Database("auth")
	o := mongoadapter.Options{}
	err = mongoadapter.Migrate(ctx, db, o)
	if broken, is := errors.AsType[*mongoadapter.ViolationError](err); is {
		log.Fatal("mend these first: ", broken.Violations)
	}
	if err != nil {
		log.Fatal(err)
	}
	store, err := mongoadapter.New(db, o)
	if err != nil {
		log.Fatal(err)
	}
	_ = store // latchkey.Config{Adapter: store, …}
}

// Users are in a database of their own; what all instances must agree on, and
// quickly, is in MongoDB.
func Example_besideAnotherAdapter() {
	configure := func(users storage.Adapter, db *mongo.Database) (*latchkey.Auth, error) {
		fast, err := mongoadapter.New(db, mongoadapter.Options{})
		if err != nil {
			return nil, err
		}
		return latchkey.New(latchkey.Config{
			Adapter: users,
			Session: latchkey.SessionConfig{Strategy: latchkey.JWTSessions, Revocations: fast},
			Limits:  latchkey.Limits{Limiter: fast, Replay: fast},
		})
	}
	_ = configure
}
