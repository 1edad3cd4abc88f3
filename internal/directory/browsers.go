package directory

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/knownbrowsers"
	"github.com/latchkeyhq/latchkey/storage"
)

// browsers returns the known browsers of the site.
func (d Passwords) browsers() *knownbrowsers.Browsers {
	return &knownbrowsers.Browsers{Store: d.Store.Browsers(), Tenant: d.Tenant, Now: d.Now}
}

// KnownBrowser returns the row of the browser with a handle for a user. It returns nil if
// the row has expired, if it was made before the user's sessions were last ended, if
// there is none, or if handle or userID is empty.
func (d Passwords) KnownBrowser(ctx context.Context, handle, userID string) (*storage.Browser, error) {
	row, err := d.browsers().Get(ctx, handle, userID, time.Time{})
	if row == nil || err != nil {
		return nil, err
	}
	void, err := d.Revocations.userVoidAt(ctx, d.Store, userID)
	if err != nil || !row.Created.After(void) {
		return nil, err
	}
	return row, nil
}

// RememberBrowser makes a browser known for a user after a sign-in from it, and returns
// its new handle. It returns "" if a concurrent sign-in was faster: the handle of that
// one stays. handle is the one that the browser had; empty: none. The sign-in counts
// from at.
func (d Passwords) RememberBrowser(ctx context.Context, handle, userID, userAgent string, at time.Time) (next string, err error) {
	known, err := d.KnownBrowser(ctx, handle, userID)
	if err != nil {
		return "", err
	}
	return keepBrowser(ctx, d.Directory, knownbrowsers.SignIn{Handle: handle, UserID: userID, UserAgent: userAgent, Known: known, At: at})
}

// keepBrowser makes a browser known after a sign-in, and returns its new handle, with the
// user locked: nothing takes the browser or its trust away in between.
func keepBrowser(ctx context.Context, d *Directory, in knownbrowsers.SignIn) (next string, err error) {
	err = withUserLocked(ctx, d, in.UserID, func(ctx context.Context, s *Store) error {
		next, err = (&knownbrowsers.Browsers{Store: s.Browsers(), Tenant: d.Tenant, Now: d.Now}).SignedIn(ctx, in)
		return err
	})
	return next, err
}

// forgetBrowser does the work of ForgetBrowser, with the user locked.
func forgetBrowser(ctx context.Context, d *Directory, q *Outbox, userID, publicID string) error {
	return q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) error {
		if _, err := s.LockUser(ctx, userID); failure.Ignoring(err, storage.ErrNotFound) != nil {
			return err
		}
		n, err := s.Browsers().Delete(ctx, userID, publicID)
		if err == nil && n == 0 && publicID != "" {
			err = storage.ErrNotFound
		}
		if err == nil && n > 0 {
			q.Add(event.Event{Type: event.BrowserForgot, UserID: userID}, nil)
		}
		return err
	})
}

// withUserLocked runs f in one transaction, if the store has transactions, with a user
// locked. The user need not be stored: then f runs without a lock.
func withUserLocked(ctx context.Context, d *Directory, userID string, f func(context.Context, *Store) error) error {
	return d.Store.InTx(ctx, func(ctx context.Context, s *Store) error {
		if _, err := s.LockUser(ctx, userID); failure.Ignoring(err, storage.ErrNotFound) != nil {
			return err
		}
		return f(ctx, s)
	})
}

// KnownBrowsers returns the browsers that are known for a user, as KnownBrowser finds
// them.
func (d Passwords) KnownBrowsers(ctx context.Context, userID string) ([]storage.Browser, error) {
	rows, err := d.Store.Browsers().List(ctx, userID)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	void, err := d.Revocations.userVoidAt(ctx, d.Store, userID)
	var known []storage.Browser
	for _, row := range rows {
		if d.Now().Before(row.Expires) && row.Created.After(void) {
			known = append(known, row)
		}
	}
	return known, err
}

// ForgetBrowser removes the known browser of a user with a public id, or all of them if
// publicID is empty. It returns ErrNotFound if there is no browser with that id. It adds
// the event BrowserForgot if it has removed any.
func (d Passwords) ForgetBrowser(ctx context.Context, q *Outbox, userID, publicID string) error {
	return forgetBrowser(ctx, d.Directory, q, userID, publicID)
}
