package mongoadapter

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/latchkeyhq/latchkey/storage"
)

// Options says how an [Adapter] uses a database. The zero value is the usual.
type Options struct {
	// PlainTokens keeps session tokens as they are, for databases that Auth.js
	// uses at the same time. Otherwise the database has their SHA-256, and a plain
	// token that is there already is hashed when its session is next read.
	PlainTokens bool
}

// Adapter is a store in MongoDB. It has no transactions: [storage.SignUpAdapter] makes up
// for that. It keeps no passwords, second factors, suspensions or audit log. Make one with
// [New]. It is safe for concurrent use, by any number of processes.
type Adapter struct {
	users                                     *owners
	accounts, authenticators, sessions        *collection
	links, revocations, signUps, limits, used *collection
	leases                                    *collection
	tokens                                    sessionTokens
}

var (
	_ storage.SessionAdapter           = (*Adapter)(nil)
	_ storage.SessionListAdapter       = (*Adapter)(nil)
	_ storage.VerificationTokenAdapter = (*Adapter)(nil)
	_ storage.AccountAdapter           = (*Adapter)(nil)
	_ storage.UserDeletionAdapter      = (*Adapter)(nil)
	_ storage.AuthenticatorAdapter     = (*Adapter)(nil)
	_ storage.SignUpAdapter            = (*Adapter)(nil)
	_ storage.SweepAdapter             = (*Adapter)(nil)
	_ storage.RevocationStore          = (*Adapter)(nil)
	_ storage.ReturningLimiter         = (*Adapter)(nil)
	_ storage.ReplayStore              = (*Adapter)(nil)
	_ storage.ProviderLogoutAdapter    = (*Adapter)(nil)
	_ storage.TokenAdapter             = (*Adapter)(nil)
	_ storage.TokenSharer              = (*Adapter)(nil)
	_ storage.AccountWalker            = (*Adapter)(nil)
	_ storage.LeaseStore               = (*Adapter)(nil)
)

// New returns a store in db. It asks nothing of the server yet. The client that db
// is of stays the caller's, to configure and to close. A nil db is an error.
//
// Before it first adds to a collection the store looks for the unique index that
// [Migrate] makes there; without it every addition is [ErrNotMigrated].
func New(db *mongo.Database, o Options) (*Adapter, error) {
	if db == nil {
		return nil, errNoDatabase
	}
	db = withMajority(db)
	a := &Adapter{
		accounts:       &collection{Collection: db.Collection("accounts"), unique: "provider,providerAccountId"},
		authenticators: &collection{Collection: db.Collection("authenticators"), unique: "credentialID"},
		sessions:       &collection{Collection: db.Collection("sessions"), unique: "sessionToken"},
		links:          &collection{Collection: db.Collection("verification_tokens"), unique: "identifier,token"},
		revocations:    &collection{Collection: db.Collection("revocations")},
		signUps:        &collection{Collection: db.Collection("sign_ups")},
		limits:         &collection{Collection: db.Collection("limits")},
		used:           &collection{Collection: db.Collection("used_values")},
		leases:         &collection{Collection: db.Collection("leases")},
		tokens:         sessionTokens{o.PlainTokens},
	}
	a.users = &owners{
		docs:  &collection{Collection: db.Collection("users"), unique: "email"},
		owned: []*collection{a.signUps, a.sessions, a.accounts, a.authenticators},
	}
	return a, nil
}

var errNoDatabase = errors.New("mongoadapter: no database")

// withMajority returns db with reads from the primary and with the concern "majority"
// for reads and writes, whatever its client has. A read from another server, or a write
// that only one server has, could bring back a session that was ended.
func withMajority(db *mongo.Database) *mongo.Database {
	return db.Client().Database(db.Name(), options.Database().
		SetReadPreference(readpref.Primary()).
		SetReadConcern(readconcern.Majority()).
		SetWriteConcern(writeconcern.Majority()).
		SetRegistry(bson.NewRegistry()).
		SetBSONOptions(&options.BSONOptions{DefaultDocumentM: true}))
}

// objectID returns the ObjectID of a user with this id. For a text that is no ObjectID
// it returns the first 12 bytes of the SHA-256, always the same, so that a recorded
// sign-up finds its user.
func objectID(id string) bson.ObjectID {
	if oid, is := parseID(id); is {
		return oid
	}
	sum := sha256.Sum256([]byte(id))
	return bson.ObjectID(sum[:12])
}

// parseID parses the id of a user of this store: an ObjectID in lower-case hexadecimal.
// It returns false for any other text, which no user has.
func parseID(id string) (oid bson.ObjectID, is bool) {
	oid, err := bson.ObjectIDFromHex(id)
	return oid, err == nil && oid.Hex() == id
}

// keyOf returns the id of a document for a name of several parts: a hash, which is short
// and has nothing of the name in it. Each part has its length in front, so that two
// names never share an id.
func keyOf(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		_ = binary.Write(h, binary.BigEndian, uint64(len(part))) // a hash takes everything
		h.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// errText does not quote the text, which may be a token.
var errText = errors.New("a text is not UTF-8")

// storable reports whether all texts are UTF-8. The database cannot hold other texts, so
// a caller need not search for them.
func storable(texts ...string) bool {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return false
		}
	}
	return true
}

// find reads one document that filter names into doc: the whole document, or only the
// given fields. It returns ErrNotFound if filter names none.
func find(ctx context.Context, c *collection, filter bson.D, doc any, fields ...string) error {
	wanted := make(bson.D, len(fields))
	for i, name := range fields {
		wanted[i] = bson.E{Key: name, Value: 1}
	}
	o := options.FindOne()
	if len(wanted) > 0 {
		o.SetProjection(wanted)
	}
	return orNotFound(c.FindOne(ctx, filter, o).Decode(doc))
}

// findAll reads all documents that filter names, in any order. It returns no error if
// there are none.
func findAll[T any](ctx context.Context, c *collection, filter bson.D) (list []T, err error) {
	found, err := c.Find(ctx, filter)
	if err != nil {
		return nil, err
	}
	return list, found.All(ctx, &list)
}

// orNotFound returns ErrNotFound for the driver's error for an absent document, and any
// other error as it is.
func orNotFound(err error) error {
	if errors.Is(err, mongo.ErrNoDocuments) {
		return storage.ErrNotFound
	}
	return err
}

// DBSystem returns the name of the database for traces.
func (a *Adapter) DBSystem() string { return "mongodb" }
