// Package knownbrowsers keeps the browsers that users have signed in from. It knows no
// request and no cookie.
package knownbrowsers

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// Life is how long a browser stays known after its last sign-in.
const Life = 90 * 24 * time.Hour

// Browsers keeps the browsers that users have signed in from. A browser's cookie has
// a handle, and the store its hash. One handle has a row for each user.
type Browsers struct {
	Store  storage.BrowserStore
	Tenant string // empty: there is one site
	Now    func() time.Time
}

// id returns the id of the rows of a handle.
func (b *Browsers) id(handle string) string {
	hash := sha256.New()
	for _, text := range []string{"latchkey browser", b.Tenant, handle} {
		hash.Write(binary.AppendUvarint(nil, uint64(len(text))))
		hash.Write([]byte(text))
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// Get returns what is known of a browser for a user, or nil. void is the instant from
// before which nothing of the user counts; zero: there is none.
func (b *Browsers) Get(ctx context.Context, handle, userID string, void time.Time) (*storage.Browser, error) {
	if handle == "" || userID == "" {
		return nil, nil
	}
	row, err := b.Store.Get(ctx, b.id(handle), userID)
	if err != nil {
		return nil, failure.Ignoring(err, storage.ErrNotFound)
	}
	if row.UserID != userID || !b.Now().Before(row.Expires) || !row.Created.After(void) {
		return nil, nil
	}
	return &row, nil
}

// IsTrusted reports whether the browser is remembered: no second factor is asked for
// at a sign-in.
func (b *Browsers) IsTrusted(row *storage.Browser) bool {
	return row != nil && b.Now().Before(row.Trusted)
}

// SignIn is a sign-in that came out of a browser.
type SignIn struct {
	Handle    string // of the browser's cookie; empty: it has none
	UserID    string
	UserAgent string
	Known     *storage.Browser // the row of before, as Get returned it; nil: none that counts
	At        time.Time        // when the sign-in counts from
	Trusted   time.Time        // until when the browser is remembered; zero: as before
}

// SignedIn makes a browser known for the user that has signed in, and returns its new
// handle. The old handle names nothing afterwards. SignedIn returns "" if a concurrent
// sign-in in the same browser was faster; the handle of that stays.
// Call it with the user locked, in one transaction: a browser that was forgotten since Known
// was read, or is not trusted any more, does not get its trust back.
func (b *Browsers) SignedIn(ctx context.Context, s SignIn) (handle string, err error) {
	now := b.Now().UTC()
	handle = secret.RandomHex(32)
	if s.Handle != "" {
		err := b.Store.Renew(ctx, b.id(s.Handle), b.id(handle), now)
		if errors.Is(err, storage.ErrNotFound) && s.Known != nil {
			return "", nil
		}
		if failure.Ignoring(err, storage.ErrNotFound) != nil {
			return "", err
		}
	}
	row := storage.Browser{PublicID: secret.RandomHex(16), Created: s.At.UTC()}
	if s.Known != nil {
		now, err := b.Store.Get(ctx, b.id(handle), s.UserID)
		if failure.Ignoring(err, storage.ErrNotFound) != nil {
			return "", err
		}
		if err == nil && now.PublicID == s.Known.PublicID {
			row = now
		}
	}
	row.ID, row.UserID, row.UserAgent = b.id(handle), s.UserID, s.UserAgent
	row.Seen, row.Expires = now, now.Add(Life)
	if !s.Trusted.IsZero() {
		row.Trusted = s.Trusted.UTC()
	}
	return handle, b.Store.Put(ctx, row)
}

// Distrust removes the trust in all browsers of a user. They stay known.
func (b *Browsers) Distrust(ctx context.Context, userID string) error {
	err := b.distrust(ctx, userID)
	if errors.Is(err, storage.ErrConflict) { // a sign-in has just renewed one of them
		err = b.distrust(ctx, userID)
	}
	return err
}

func (b *Browsers) distrust(ctx context.Context, userID string) error {
	rows, err := b.Store.List(ctx, userID)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Trusted.IsZero() {
			continue
		}
		row.Trusted = time.Time{}
		if err := b.Store.Put(ctx, row); err != nil {
			return err
		}
	}
	return nil
}
