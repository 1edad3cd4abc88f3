package kvstore

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// Kind is what a record is of: one or two letters, of which a driver makes the
// first part of its keys.
type Kind string

// The kinds of records. Their texts never change, since they are part of keys.
const (
	KindUser          Kind = "u"
	KindEmail         Kind = "e" // the claim to an e-mail address
	KindAccount       Kind = "a"
	KindAuthenticator Kind = "k"
	KindSession       Kind = "s"
	KindLink          Kind = "t" // a magic link
	KindSignUp        Kind = "n" // a sign-up that was begun
	KindRevocation    Kind = "r"
	KindUsed          Kind = "o" // a value that must not be used twice
	KindLimit         Kind = "l"
	KindLease         Kind = "w" // work that one process does
)

// Key names a record.
type Key struct {
	Kind Kind
	// Name has at most 64 bytes, all of them among A–Z, a–z, 0–9, "-", "_" and
	// "=", so that a driver need neither hash nor escape it. Case counts.
	Name string
}

// Record is one value under one key.
type Record struct {
	Key

	// Version is made by the writer, random and never used twice. What is absent
	// has none.
	Version string
	// Value is a JSON text, and drivers keep it as it is. A [Follower] also reads its
	// member user. Only a driver that shares users with another program may change it. Such
	// a driver may keep the members id, name, email, image, verified (in milliseconds since
	// 1970) and extra of a [KindUser] in its own form. If the other program changes these,
	// the driver returns the new ones under another Version. A user whose member state is
	// not empty is being made or deleted, and does not exist for other programs. For a user
	// that the other program has made, the driver returns any text as born, always the same.
	Value []byte
	// Until is the instant after which the store may forget the record; zero:
	// never. Nothing is decided by it, so a store may be late, and a driver
	// that reads records need not set it.
	Until time.Time
}

// IsVoid reports whether the record is a mark: what it held was ended. The mark keeps
// it from coming back until the store forgets the record.
func (r *Record) IsVoid() bool { return string(r.Value) == void }

const void = "null"

// Conn is a key–value store. It is for drivers to implement, and gets no further
// methods. [Follower], [WalkConn], [LimitConn] and [LeaseConn] are optional additions to it.
// It has to be safe for concurrent use. A cancelled context ends a call with its
// error.
//
// No operation has two keys that have to change together. Reads see all writes
// that were answered before they began: a driver reads from where it writes, and
// with full consistency.
//
// Clients repeat a call whose answer was lost, and so may this package's callers.
// Put is therefore idempotent: one that finds the very version it is writing has
// succeeded.
type Conn interface {
	// Get returns those of the records that are there, in any order, in as few
	// round trips as the store allows. There is at least one key, and none twice.
	Get(ctx context.Context, keys ...Key) ([]Record, error)
	// Put writes r over the record that has the version over. If over is empty, it
	// writes r only where no record is. Otherwise it returns ErrConflict, or nil if
	// the stored record has r.Version.
	Put(ctx context.Context, r Record, over string) error
	// Delete removes the record that has the version, and returns what was removed.
	// If version is empty, it removes the record with any version. It returns
	// ErrNotFound if there is none, and ErrConflict if it has another version.
	Delete(ctx context.Context, k Key, version string) (Record, error)

	// Own adds an entry to the list of what a user owns. The user is the Name of a
	// [KindUser], stored or not. The store may forget the entry after until; a zero
	// until means never. Of several calls with one entry the latest until counts. An
	// entry has the form of a key, and is never the key of a record.
	//
	// A list must not grow with sign-ins whose sessions have expired. A store that
	// cannot expire entries one by one removes some expired ones whenever it adds
	// one.
	Own(ctx context.Context, user string, entry Key, until time.Time) error
	// Disown removes an entry from the list. Removing an absent one is no error.
	Disown(ctx context.Context, user string, entry Key) error
	// Owned returns the entries of a user, in any order. It leaves out entries whose until
	// has passed, and removes those of them that the store still has.
	Owned(ctx context.Context, user string) ([]Key, error)
}

// Follower is a [Conn] that reads a session or an account together with its user
// in one round trip. With any other Conn a [Store] makes two.
//
// The value of both kinds has a member "user" at its top. Its text is the Name of
// the user's key, if it has the form of a name; otherwise a driver leaves the
// user out. The result may lack the user for any reason.
type Follower interface {
	// GetWithUser returns the record of k and that of the user that it names, as Get
	// does.
	GetWithUser(ctx context.Context, k Key) ([]Record, error)
}

// WalkConn is a [Conn] that can find all records of a kind. Without it
// [Store.EachAccount] returns an [errors.ErrUnsupported].
type WalkConn interface {
	// Walk calls f with the records of a kind, some at a time and in any order, and ends
	// with the first error of f. A record that is there all the time is in a page at least
	// once, as it was when that page was read. Marks may be among them, and expired
	// records. Between two pages f may call the store.
	Walk(ctx context.Context, kind Kind, f func([]Record) error) error
}

// LimitConn is a [Conn] that counts events in one step, by the store's own clock. With
// any other Conn a record is read, compared and put. The three methods are those of
// [storage.ReturningLimiter], and both fields of r are positive. What is kept under the
// key is the driver's own, and may be forgotten when it is empty again.
type LimitConn interface {
	TakeLimit(ctx context.Context, k Key, r storage.Rate) (wait time.Duration, err error)
	ReturnLimit(ctx context.Context, k Key, r storage.Rate) error
	ForgetLimit(ctx context.Context, k Key) error
}

// LeaseConn is a [Conn] that gives leases in one step, by the store's own clock. With any
// other Conn a record is read, compared and put. The two methods are those of
// [storage.LeaseStore]; what is kept under the key is the driver's own. A lease that has
// expired without EndLease is remembered for a day.
type LeaseConn interface {
	TakeLease(ctx context.Context, k Key, holder string, life time.Duration) (storage.Lease, error)
	EndLease(ctx context.Context, k Key, holder string) error
}
