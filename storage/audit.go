package storage

import (
	"context"
	"time"
)

// AuditRecord is one event of the audit log, as it is stored. The fields that lists
// filter by have a column each. The rest of the event is JSON in Data, and in Personal
// where it is about a person.
type AuditRecord struct {
	ID        string // unique, chosen by the library; ids of a process rise
	Type      string // of the event, such as "sign_in"
	Outcome   string // "success" or "failure"
	Time      time.Time
	Tenant    string // empty: the site has no tenants
	UserID    string // of the user it is about, who need not exist; empty: none, or erased
	SessionID string // empty: none
	Client    string // address or network of the client; empty: unknown, or erased
	Data      []byte // JSON
	Personal  []byte // JSON; nil: erased
}

// AuditQuery says which records a list has. An empty filter matches every record.
type AuditQuery struct {
	Tenant  string
	UserID  string
	Type    string // a type; with a point at its end, all types that begin so
	Outcome string
	Client  string
	From    time.Time // at this instant or later, to the millisecond
	Before  time.Time // before this instant, to the millisecond

	// AfterTime and AfterID are Time and ID of the last record of the page before. Both
	// zero: the list begins with the newest record.
	AfterTime time.Time
	AfterID   string

	Limit int // records to return at most; positive
}

// AuditAdapter is an [Adapter] that keeps an audit log. latchkey.Audit.Store needs it.
type AuditAdapter interface {
	// Audit returns the store of the audit log. In a transaction it is bound to the
	// transaction.
	Audit() AuditStore
}

// AuditStore keeps an audit log. A record outlives its user: DeleteUser removes none. A
// record reads back as it was stored, but a store may cut its Time to the millisecond.
type AuditStore interface {
	// Append stores records, all of them or none. A record whose id is stored already
	// is left as it is, so that the caller may try again.
	Append(ctx context.Context, records []AuditRecord) error
	// List returns the newest records first, and records of one instant by descending
	// id. A caller that goes on from the last record of a page meets each record exactly
	// once that is stored throughout.
	List(ctx context.Context, q AuditQuery) ([]AuditRecord, error)
	// Prune does one of two things to at most limit records, and returns to how many:
	//
	//   - It removes the oldest records whose Time is earlier than before.
	//   - If there are none of these, it erases UserID, Client and Personal of the oldest
	//     records that still have Personal and are earlier than personalBefore.
	//
	// A zero before removes nothing, and a zero personalBefore erases nothing. Prune returns
	// 0 if nothing is left to do: the library calls it until then.
	Prune(ctx context.Context, before, personalBefore time.Time, limit int) (int, error)
	// Erase erases UserID, Client and Personal in all records with this UserID, and
	// returns how many records those were. The records stay. An empty or unknown id
	// erases nothing.
	Erase(ctx context.Context, userID string) (int, error)
}
