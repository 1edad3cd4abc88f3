// Package mongoadapter keeps users, accounts and sessions in MongoDB, in the
// collections that the MongoDB adapter of Auth.js has, or in any of the roles that
// a latchkey.Config can fill beside another adapter: sessions, limits, used
// values, revocations.
//
//	client, err := mongo.Connect(options.Client().ApplyURI(os.Getenv("MONGODB_URI")))
//	…
//	db := client.Database("auth")
//	o := mongoadapter.Options{}
//	err = mongoadapter.Migrate(ctx, db, o)
//	…
//	store, err := mongoadapter.New(db, o)
//	…
//	auth, err := latchkey.New(latchkey.Config{Adapter: store, Providers: …})
//
// There are no transactions, so a single server serves as well as a replica set.
// Whatever must happen once is decided by one command on one document, or by one
// unique index. Reads are from the primary, and reads and writes have the concern
// "majority", whatever the client's own are: what was acknowledged outlives a
// change of the primary.
//
// Users are called by the hexadecimal form of an ObjectId. Any other id that a user
// is to be given becomes the first 12 bytes of its SHA-256, and is not
// an id of others afterwards.
//
// Errors name the operation and the server's code, never values. The driver's
// error, which may have them, is what [errors.As] finds; do not log it.
package mongoadapter
