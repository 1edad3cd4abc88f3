// Package challenge keeps what a site waits for: the second factor of a sign-in, a
// code from a mail, the answer to an invitation. Each is a row with a handle. The
// handle is a secret that the library gives away, in a cookie or in a link, and
// never stores; the row holds its hash, and its data sealed.
//
// A handle is worth something for one purpose and one tenant only: both are part of
// the hash. What a row is about is sealed together with its id, purpose, tenant and
// user. Columns that were edited, and data that was moved to another row, open
// nothing.
package challenge

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// Purpose is what a challenge is for.
type Purpose string

// The purposes.
const (
	SignIn  Purpose = "signin"  // the second factor of a sign-in
	Enrol   Purpose = "enrol"   // the first code of an authenticator app
	Codes   Purpose = "codes"   // new recovery codes, until they are saved
	Reauth  Purpose = "reauth"  // a new proof in a session
	Code    Purpose = "code"    // a code from a mail, beside its link
	SignUp  Purpose = "signup"  // a user with a password, until the address is proven
	Reset   Purpose = "reset"   // a new password by a link
	Email   Purpose = "email"   // a new address, until it is proven
	Moved   Purpose = "moved"   // the way back to the address of before
	Lost    Purpose = "lost"    // a factor that is removed after a delay
	Offer   Purpose = "offer"   // a passkey that was offered lately; its handle is no secret
	Cleared Purpose = "cleared" // factors that an administrator has removed, until the user has one again; its handle is no secret
	Invite  Purpose = "invite"  // an invitation
	ActAs   Purpose = "actas"   // an administrator who acts as a user
	Regain  Purpose = "regain"  // another address for a user who has lost the mailbox, after a delay
	Keep    Purpose = "keep"    // the way to stop that, from the mailbox that was lost
	Due     Purpose = "due"     // a mail that is being sent because of a delay; its handle is no secret
	Recover Purpose = "recover" // a former address that was given back lately
	Recodes Purpose = "recodes" // that recovery codes were made lately; its handle is no secret
	Back    Purpose = "back"    // tries at a challenge that were given back; its handle is no secret
)

// Draft is a challenge to be made.
type Draft struct {
	Purpose    Purpose
	Handle     string // empty: a random one
	UserID     string // the user it is about; empty: none
	Identifier string // the e-mail address it is about; empty: none
	Data       any    // encoded as JSON; nil: nothing
	Life       time.Duration
}

// Row is a challenge with its sealed part opened. All fields but Tries come from there.
type Row struct {
	ID         string
	Purpose    Purpose
	UserID     string
	Identifier string
	Created    time.Time
	Expires    time.Time
	Tries      int // tries so far, with that of the call that returned the row, without those given back

	data json.RawMessage
}

// Read decodes the JSON data of the row into the value that into points to.
func (r *Row) Read(into any) error {
	if err := json.Unmarshal(r.data, into); err != nil {
		return fmt.Errorf("data of a challenge: %w", err)
	}
	return nil
}

// Box seals and opens the challenges of one configuration. It is safe for
// concurrent use.
type Box struct {
	codec  *jwt.Codec
	tenant string
}

// salt keeps keys of challenges apart from all others made of the same secrets.
const salt = "latchkey challenge"

// NewBox returns the box of a configuration. secrets has the secret that seals first, and
// then older secrets: what they sealed is still opened. With no secret, or a blank one
// among them, the box can neither seal nor open. tenant is empty if the site has no
// tenants.
func NewBox(secrets []string, tenant string) *Box {
	return &Box{jwt.NewCodec(secrets, salt), tenant}
}

// NewHandle returns a new handle: 32 random bytes in hex.
func NewHandle() string { return secret.RandomHex(32) }

// ID returns the id of the row that a handle names for a purpose. It is the SHA-256, in
// hex, over a label, the purpose, the tenant of b and the handle, each preceded by its
// length.
func (b *Box) ID(p Purpose, handle string) string {
	hash := sha256.New()
	for _, text := range []string{"latchkey challenge", string(p), b.tenant, handle} {
		hash.Write(binary.AppendUvarint(nil, uint64(len(text))))
		hash.Write([]byte(text))
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// sealed is the content of the data column.
type sealed struct {
	ID         string          `json:"id"`
	Purpose    Purpose         `json:"purpose"`
	Tenant     string          `json:"tenant,omitempty"`
	UserID     string          `json:"user,omitempty"`
	Identifier string          `json:"identifier,omitempty"`
	Created    time.Time       `json:"created"`
	Expires    time.Time       `json:"expires"`
	Data       json.RawMessage `json:"data"`
}

// Make returns the handle and the row of a new challenge. It stores nothing. An empty
// Handle of d gets a random one. The challenge expires d.Life after now. Make returns an
// error if Data cannot be encoded as JSON or the row cannot be sealed.
func (b *Box) Make(d Draft, now time.Time) (handle string, row storage.Challenge, err error) {
	if handle = d.Handle; handle == "" {
		handle = NewHandle()
	}
	data, err := json.Marshal(d.Data)
	if err != nil {
		return "", row, fmt.Errorf("data of a challenge: %w", err)
	}
	now = now.UTC().Truncate(time.Millisecond)
	s := sealed{b.ID(d.Purpose, handle), d.Purpose, b.tenant, d.UserID, d.Identifier, now, now.Add(d.Life), data}
	payload, err := json.Marshal(s)
	if err != nil {
		return "", row, fmt.Errorf("data of a challenge: %w", err)
	}
	text, err := b.codec.Seal(payload)
	if err != nil {
		return "", row, fmt.Errorf("sealing a challenge: %w", err)
	}
	return handle, storage.Challenge{
		ID: s.ID, Purpose: string(d.Purpose), Tenant: b.tenant, UserID: d.UserID, Identifier: d.Identifier,
		Data: text, Created: s.Created, Expires: s.Expires,
	}, nil
}

// Open returns what is sealed in the row c, and c.Tries. All its errors are
// storage.ErrNotFound: c does not open, it is sealed for another id, purpose or tenant,
// or it has expired. Open does not look at the other columns of c, which may have been
// edited.
func (b *Box) Open(p Purpose, c *storage.Challenge, now time.Time) (*Row, error) {
	payload, err := b.codec.Open(c.Data)
	if err != nil {
		return nil, fmt.Errorf("challenge %q does not open: %w", p, storage.ErrNotFound)
	}
	var s sealed
	if err := json.Unmarshal(payload, &s); err != nil {
		return nil, fmt.Errorf("challenge %q cannot be read: %w", p, storage.ErrNotFound)
	}
	if s.ID != c.ID || s.Purpose != p || s.Tenant != b.tenant || !now.Before(s.Expires) {
		return nil, storage.ErrNotFound
	}
	return &Row{s.ID, p, s.UserID, s.Identifier, s.Created, s.Expires, c.Tries, s.Data}, nil
}
