package people

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// Cursors seal the positions of lists. A cursor is valid for one query of one tenant,
// and for a day. They are safe for concurrent use.
type Cursors struct {
	codec  *jwt.Codec
	tenant string
	now    func() time.Time
}

const (
	cursorSalt   = "latchkey people cursor" // keeps the keys apart from all others made of the same secrets
	cursorLife   = 24 * time.Hour
	longestSeals = 8 << 10 // bytes of a cursor
)

// NewCursors returns the cursors of a configuration. secrets has the secret in use
// first, and then older ones, which still open. tenant is empty if there is one site.
func NewCursors(secrets []string, tenant string, now func() time.Time) *Cursors {
	return &Cursors{jwt.NewCodec(secrets, cursorSalt), tenant, now}
}

// cursor is what is sealed.
type cursor struct {
	Tenant   string        `json:"tenant,omitempty"`
	Query    string        `json:"query"` // a hash
	Order    storage.Order `json:"order,omitempty"`
	Position string        `json:"position"`
	Expires  time.Time     `json:"expires"`
}

// seal returns the cursor for a position of a query, or "" at the end.
func (c *Cursors) seal(q *Query, order storage.Order, position string) (string, error) {
	if position == "" {
		return "", nil
	}
	payload, err := json.Marshal(cursor{c.tenant, q.hash(), order, position, c.now().Add(cursorLife)})
	if err != nil {
		return "", err
	}
	return c.codec.Seal(payload)
}

// open returns what is sealed in q.After, or the start of the list if that is empty. It
// returns an InputError for a cursor of another query or tenant, and for one that has
// expired.
func (c *Cursors) open(q *Query) (found cursor, err error) {
	if q.After == "" {
		return cursor{Order: q.Order}, nil
	}
	if len(q.After) <= longestSeals {
		payload, err := c.codec.Open(q.After)
		if err == nil && json.Unmarshal(payload, &found) == nil &&
			found.Tenant == c.tenant && found.Query == q.hash() && c.now().Before(found.Expires) {
			return found, nil
		}
	}
	return cursor{}, wrong("After", "it is not the Next of a page of this query, or older than a day")
}

// hash returns a hash of all that decides which users a query has, and in which order.
func (q *Query) hash() string {
	named := *q
	named.Limit, named.After = 0, ""
	named.From, named.Before = q.From.UTC(), q.Before.UTC()
	text, _ := json.Marshal(named) // it has texts, times and truth values
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// savedLife is how long a saved query can be opened.
const savedLife = 15 * time.Minute

// saved is a query that is sealed for one holder.
type saved struct {
	Tenant  string    `json:"tenant,omitempty"`
	Holder  string    `json:"holder"`
	Saved   Query     `json:"saved"`
	Expires time.Time `json:"expires"`
}

// Save seals a query for a holder, for savedLife.
func (c *Cursors) Save(q Query, holder string) (string, error) {
	payload, err := json.Marshal(saved{c.tenant, holder, q, c.now().Add(savedLife)})
	if err != nil {
		return "", err
	}
	return c.codec.Seal(payload)
}

// Load returns the query that is sealed in text for a holder. It returns an InputError
// if text is of another holder or tenant, or older than savedLife.
func (c *Cursors) Load(text, holder string) (Query, error) {
	found := saved{}
	if text != "" && len(text) <= longestSeals {
		payload, err := c.codec.Open(text)
		if err == nil && json.Unmarshal(payload, &found) == nil && found.Holder == holder && holder != "" &&
			found.Tenant == c.tenant && c.now().Before(found.Expires) {
			return found.Saved, nil
		}
	}
	return Query{}, wrong("s", "it is older than 15 minutes, or of another session")
}
