package people

import (
	"time"

	"github.com/latchkeyhq/latchkey/internal/sealed"
	"github.com/latchkeyhq/latchkey/storage"
)

// Cursors seal the positions of lists. A cursor is valid for one query of one tenant,
// and for a day. They are safe for concurrent use.
type Cursors struct {
	box *sealed.Box
	now func() time.Time
}

const cursorLife = 24 * time.Hour

// NewCursors returns the cursors of a configuration. secrets has the secret in use
// first, and then older ones, which still open. tenant is empty if there is one site.
func NewCursors(secrets []string, tenant string, now func() time.Time) *Cursors {
	return &Cursors{sealed.New(secrets, "latchkey people cursor", tenant, now), now}
}

// cursor is what is sealed.
type cursor struct {
	Query    string        `json:"query"` // a hash
	Order    storage.Order `json:"order,omitempty"`
	Position string        `json:"position"`
}

// seal returns the cursor of a position in the list of q, or "" for an empty position,
// the end of the list. order is the order in force, which q may leave empty.
func (c *Cursors) seal(q *Query, order storage.Order, position string) (string, error) {
	if position == "" {
		return "", nil
	}
	return c.box.Seal(cursor{q.hash(), order, position}, cursorLife)
}

// open returns what is sealed in q.After, or the start of the list if that is empty. It
// returns an InputError for a cursor of another query or tenant, and for one that has
// expired.
func (c *Cursors) open(q *Query) (found cursor, err error) {
	if q.After == "" {
		return cursor{Order: q.Order}, nil
	}
	if !c.box.Open(q.After, &found) || found.Query != q.hash() {
		return cursor{}, wrong("After", "it is not the Next of a page of this query, or older than a day")
	}
	return found, nil
}

// hash returns a hash of all that decides which users a query has, and in which order.
func (q *Query) hash() string {
	named := *q
	named.Limit, named.After = 0, ""
	named.From, named.Before = q.From.UTC(), q.Before.UTC()
	return sealed.Digest(named)
}

// savedLife is how long a saved query can be opened.
const savedLife = 15 * time.Minute

// saved is a query that is sealed for one holder.
type saved struct {
	Holder string `json:"holder"`
	Saved  Query  `json:"saved"`
}

// Save returns q sealed for a holder, such as a session. Load opens it for 15 minutes. An
// empty holder is an InputError, because Load opens nothing for it. Save does not look at
// the fields of q.
func (c *Cursors) Save(q Query, holder string) (string, error) {
	if holder == "" {
		return "", wrong("holder", "it is empty: it names the session that opens the query")
	}
	return c.box.Seal(saved{holder, q}, savedLife)
}

// Load returns the query that Save has sealed in text for a holder. It returns an
// InputError if text is of another holder or tenant or older than 15 minutes, or if
// holder is empty.
func (c *Cursors) Load(text, holder string) (Query, error) {
	found := saved{}
	if !c.box.Open(text, &found) || found.Holder != holder || holder == "" {
		return Query{}, wrong("saved", "it is older than 15 minutes, or of another holder")
	}
	return found.Saved, nil
}
