package storage

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/internal/fold"
)

// Suspension keeps a user out: every sign-in of the user is refused while it holds.
type Suspension struct {
	Since  time.Time // when it was made
	Until  time.Time // zero: until it is lifted
	Reason string    // at most 500 code points; part of the user's export
	By     string    // the administrator's id; empty: the system
}

// Holds reports whether s is in force at now: it has no Until, or now is before Until. It
// does not look at Since. A nil s is not in force.
func (s *Suspension) Holds(now time.Time) bool {
	return s != nil && (s.Until.IsZero() || now.Before(s.Until))
}

// Order is the order of a list of users.
type Order string

// The orders.
const (
	Newest Order = "newest" // by Created, the latest first, and then by ID, descending; then users without Created by ID, ascending
	ByID   Order = "id"     // by ID, ascending
)

// PeopleQuery says which users a list has, and in which order. An empty filter matches
// every user.
type PeopleQuery struct {
	Order Order // of List; a store that lacks it returns an [errors.ErrUnsupported]

	// Prefix is how an e-mail address begins, in lower case. Search looks for it in
	// addresses, and for Folded in names. Empty: it looks for no address.
	Prefix string
	Folded string // [FoldName] of what was asked for; empty: no name is looked for

	From, Before time.Time // Created is From or later, and before Before, to the millisecond; users of unknown age are left out
	Suspended    *bool     // a suspension holds at Now
	Verified     *bool     // the e-mail address is proven
	Provider     string    // has an account of this provider
	Kind         ProviderType
	Now          time.Time

	After  string // the position that the call before returned; empty: the beginning
	Limit  int    // users to return at most; positive
	Window int    // rows that a store reads at most for a page if Filtered returns true; positive
}

// Filtered reports whether q sets From, Before, Suspended, Verified, Provider or Kind. A
// store may have no index for these: it reads a row and drops it if it does not fit. If
// Filtered returns true, a store reads at most q.Window rows for a page. Prefix and Folded
// do not count, because stores have an index for them.
func (q *PeopleQuery) Filtered() bool {
	return q.Suspended != nil || q.Verified != nil || q.Provider != "" || q.Kind != "" || !q.From.IsZero() || !q.Before.IsZero()
}

// DirectoryAdapter is an [Adapter] that can list and search its users.
// latchkey.Users.List needs it.
type DirectoryAdapter interface {
	// People returns the store of lists. In a transaction it is bound to the
	// transaction.
	People() PeopleStore
}

// PeopleStore lists and searches users. A user who is stored throughout an iteration
// is returned exactly once, whatever is written meanwhile. The users that it returns have
// their Suspension filled in.
type PeopleStore interface {
	// List returns users after the position q.After, and the position to go on from,
	// which is empty at the end. If q.Filtered returns true, it reads at most q.Window
	// rows. A page may be short or empty and not the last. A text that is no position is an
	// error. The library gives a position back only with the query that it came from.
	List(ctx context.Context, q PeopleQuery) (users []User, next string, err error)
	// Search lists users as List does, but ignores q.Order. First come the users whose
	// e-mail address begins with q.Prefix, by address. Then come the others whose folded
	// name begins with q.Folded, by folded name. An empty Prefix finds no address, and an
	// empty Folded no name.
	Search(ctx context.Context, q PeopleQuery) (users []User, next string, err error)
	// Count returns the number of users that match q: those of Search if q.Prefix or
	// q.Folded is not empty, else those of List. It returns limit if there are as many or
	// more. It ignores Order, After, Limit and Window of q.
	Count(ctx context.Context, q PeopleQuery, limit int) (int, error)
}

// SuspensionAdapter is an [Adapter] that keeps suspensions. latchkey.Users.Suspend
// needs it. GetUser, GetUserByEmail and GetUserByAccount of such an adapter return
// users with their suspension.
type SuspensionAdapter interface {
	// Suspensions returns the store of suspensions. In a transaction it is bound to
	// the transaction.
	Suspensions() SuspensionStore
}

// SuspensionStore keeps at most one suspension of each user. If the store has
// transactions, Put and Delete lock the user until the transaction ends, as UpdateUser
// does (see [TxAdapter]). DeleteUser deletes the suspension.
type SuspensionStore interface {
	// Put stores a suspension in place of the one there is. An unknown user is
	// ErrNotFound.
	Put(ctx context.Context, userID string, s Suspension) error
	// Get returns the suspension of a user, in force or not, or ErrNotFound if there is
	// none.
	Get(ctx context.Context, userID string) (Suspension, error)
	// Delete removes the suspension of a user and returns it, or ErrNotFound if there was
	// none.
	Delete(ctx context.Context, userID string) (Suspension, error)
}

// Activity is one thing that happened to a user, as the user may see it.
type Activity struct {
	ID        string // chosen by the library; unique
	UserID    string
	Time      time.Time
	Type      string // of the event, such as "sign_in"; " failed" follows if the event failed
	Provider  string // the provider involved; empty: none
	UserAgent string // of the browser; empty: unknown
	ActorKind string // the kind of actor, such as "user" or "admin"
}

// ActivityAdapter is an [Adapter] that keeps the latest activities of users.
// DeleteUser deletes them.
type ActivityAdapter interface {
	// Activities returns the store of activities. In a transaction it is bound to the
	// transaction.
	Activities() ActivityStore
}

// ActivityStore keeps the latest activities of users.
type ActivityStore interface {
	// Append stores a. It may return ErrNotFound for an unknown user. The library uses no
	// ID twice: what Append does with one that is taken is up to the store.
	Append(ctx context.Context, a Activity) error
	// List returns at most limit activities of a user, the newest first. An unknown user
	// has none.
	List(ctx context.Context, userID string, limit int) ([]Activity, error)
	// Prune removes the activities from before the instant, and returns how many.
	Prune(ctx context.Context, before time.Time) (int, error)
}

// longestFolded is how many bytes of a folded name are kept.
const longestFolded = 200

// FoldName returns the form in which a name is searched for: without accents, case and
// characters that do not show, with single spaces, cut to 200 bytes. Stores keep it
// beside the name.
func FoldName(name string) string {
	folded := fold.Name(name)
	if len(folded) <= longestFolded {
		return folded
	}
	end := longestFolded
	for end > 0 && !utf8.RuneStart(folded[end]) {
		end--
	}
	return folded[:end]
}

// AfterPrefix returns the exclusive upper bound of a range scan over the texts that begin
// with prefix: the first text after all of them, in the order of code points. It returns
// "" if there is no such text, as for an empty prefix. The scan then has no upper bound.
func AfterPrefix(prefix string) string {
	runes := []rune(prefix)
	for i := len(runes) - 1; i >= 0; i-- {
		switch r := runes[i]; {
		case r == utf8.MaxRune:
			continue
		case r == 0xD7FF: // surrogates follow
			runes[i] = 0xE000
		default:
			runes[i] = r + 1
		}
		return string(runes[:i+1])
	}
	return ""
}

// ActorAdapter is an [Adapter] or a [SessionStore] that may lack columns for
// [StoredSession].Actor and ActorSession.
//
// Unlike the other optional interfaces it says what a store CANNOT do: a store without
// the method KeepsActors is taken to keep both fields. A store that has no place for them
// must implement it and return false. Otherwise the session of an administrator who acts
// as a user would read back as one of the user's own.
type ActorAdapter interface {
	// KeepsActors reports whether the store keeps both fields.
	KeepsActors() bool
}
