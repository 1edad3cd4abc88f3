package memoryadapter

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// Browsers implements [storage.BrowserAdapter].
func (a *Adapter) Browsers() storage.BrowserStore { return browsers{a} }

// browsers is the store of known browsers of an adapter.
type browsers struct{ a *Adapter }

// Put implements [storage.BrowserStore]. An unknown user is ErrNotFound.
func (s browsers) Put(ctx context.Context, b storage.Browser) error {
	return s.a.withData(ctx, func(d *data) error {
		if _, known := d.users[b.UserID]; !known {
			return storage.ErrNotFound
		}
		key := pair{b.ID, b.UserID}
		for other, found := range d.browsers {
			if found.PublicID == b.PublicID && other != key {
				return storage.ErrConflict
			}
		}
		b.Created, b.Seen, b.Trusted, b.Expires = utc(b.Created), utc(b.Seen), utc(b.Trusted), utc(b.Expires)
		put(d, d.browsers, key, b)
		return nil
	})
}

// Get implements [storage.BrowserStore].
func (s browsers) Get(ctx context.Context, id, userID string) (b storage.Browser, err error) {
	err = s.a.withData(ctx, func(d *data) (err error) {
		b, err = find(d.browsers, pair{id, userID})
		return err
	})
	return b, err
}

// Renew implements [storage.BrowserStore]. If there are rows with the ID next, it
// returns ErrConflict.
func (s browsers) Renew(ctx context.Context, id, next string, seen time.Time) error {
	return s.a.withData(ctx, func(d *data) error {
		var rows []storage.Browser
		for key, b := range d.browsers {
			switch key[0] {
			case next:
				return storage.ErrConflict
			case id:
				rows = append(rows, b)
			}
		}
		if len(rows) == 0 {
			return storage.ErrNotFound
		}
		for _, b := range rows {
			remove(d, d.browsers, pair{id, b.UserID})
			b.ID, b.Seen = next, utc(seen)
			put(d, d.browsers, pair{next, b.UserID}, b)
		}
		return nil
	})
}

// List implements [storage.BrowserStore]. The browser that was seen last comes first.
func (s browsers) List(ctx context.Context, userID string) (list []storage.Browser, err error) {
	err = s.a.withData(ctx, func(d *data) error {
		for _, b := range d.browsers {
			if b.UserID == userID {
				list = append(list, b)
			}
		}
		return nil
	})
	slices.SortFunc(list, func(a, b storage.Browser) int {
		return cmp.Or(b.Seen.Compare(a.Seen), cmp.Compare(a.PublicID, b.PublicID))
	})
	return list, err
}

// Delete implements [storage.BrowserStore].
func (s browsers) Delete(ctx context.Context, userID, publicID string) (n int, err error) {
	err = s.a.withData(ctx, func(d *data) error {
		n = removeIf(d, d.browsers, func(_ pair, b storage.Browser) bool {
			return b.UserID == userID && matches(publicID, b.PublicID)
		})
		return nil
	})
	return n, err
}
