package sqlstore

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// Browsers implements [storage.BrowserAdapter]. The calls of the store return an
// [errors.ErrUnsupported] if the layout has no table for browsers.
func (s *Store) Browsers() storage.BrowserStore { return browsers{s.db} }

// browsers stores the browsers of users.
type browsers struct{ db *database }

// browserRow is what a row of browsers is read into.
type browserRow struct {
	b                               storage.Browser
	created, seen, trusted, expires instant
}

// dest returns a destination in r for each column of browsers, in the order of package
// model. The caller passes the list to database.into.
func (r *browserRow) dest() []any {
	b := &r.b
	return []any{&b.ID, &b.UserID, &b.PublicID, &r.created, &r.seen, &r.trusted, &r.expires, &b.UserAgent}
}

// read returns the browser of the row.
func (r *browserRow) read() storage.Browser {
	b := r.b
	b.Created, b.Seen, b.Trusted, b.Expires = r.created.t, r.seen.t, r.trusted.t, r.expires.t
	return b
}

// Put implements [storage.BrowserStore]. It returns ErrConflict if another row has the
// PublicID. It returns ErrNotFound for an unknown user if the schema has a foreign key,
// as ours does.
func (s browsers) Put(ctx context.Context, b storage.Browser) error {
	err := errors.Join(ctx.Err(), s.db.needs("browsers"))
	if err == nil && !s.db.findableID(b.UserID) {
		err = storage.ErrNotFound
	}
	if err == nil {
		at := s.db.q.forms["browsers"].arg
		err = s.put(ctx, []any{b.ID, b.UserID, b.PublicID, at(b.Created), at(b.Seen), at(b.Trusted), at(b.Expires), null(plainAgent(b.UserAgent))})
	}
	return fail(ctx, "put browser", err)
}

// plainAgent returns a user agent as valid text: it replaces invalid UTF-8 and
// NUL by U+FFFD.
func plainAgent(agent string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(agent, "\uFFFD"), "\x00", "\uFFFD")
}

// put adds row, a value for each column of browsers, or replaces the row with its id and user.
// It returns ErrConflict for a taken public id, and ErrNotFound for an unknown user.
func (s browsers) put(ctx context.Context, row []any) error {
	in := s.db.q.proofs.insertBrowser
	if s.db.layout.dialect == MySQL {
		return s.db.tx(ctx, func(tx *database) error {
			if _, err := tx.conn.Exec(ctx, tx.q.proofs.deleteBrowserRow, row[0], row[1]); err != nil {
				return err
			}
			return tx.add(ctx, in, row...)
		})
	}
	if err := s.db.fits(ctx, in, row); err != nil {
		return err
	}
	_, err := s.db.conn.Exec(ctx, s.db.q.proofs.putBrowser, s.db.layout.args(in, row)...)
	switch {
	case is(err, unique):
		return storage.ErrConflict
	case is(err, orphan), is(err, malformed):
		return storage.ErrNotFound
	}
	return err
}

// Get implements [storage.BrowserStore]. It returns ErrNotFound if the browser has no row
// for the user, and an expired row as long as it exists.
func (s browsers) Get(ctx context.Context, id, userID string) (storage.Browser, error) {
	var row browserRow
	err := s.db.needs("browsers")
	if err == nil && !s.db.findableID(userID) {
		err = storage.ErrNotFound
	}
	if err == nil {
		err = s.db.find(ctx, s.db.q.proofs.browser, []string{id, userID}, s.db.into("browsers", row.dest())...)
	}
	if err != nil {
		return storage.Browser{}, fail(ctx, "get browser", err)
	}
	return row.read(), nil
}

// Renew implements [storage.BrowserStore]: all rows with id get the id next, and seen. It
// returns ErrNotFound if no row has id, and ErrConflict if a row of the same user has next.
func (s browsers) Renew(ctx context.Context, id, next string, seen time.Time) error {
	err := errors.Join(ctx.Err(), s.db.needs("browsers"))
	switch {
	case err != nil:
	case !findable(id):
		err = storage.ErrNotFound
	default:
		err = s.renew(ctx, id, next, seen)
	}
	return fail(ctx, "renew browser", err)
}

// renew changes id to next in all rows with id, and sets Seen. The caller has checked that the
// table exists and that id is findable. renew returns other driver errors as they are.
func (s browsers) renew(ctx context.Context, id, next string, seen time.Time) error {
	if err := s.db.fitsColumn(ctx, "browsers", "id", next); err != nil {
		return err
	}
	args := append(s.db.layout.touches("browsers"), next, s.db.q.forms["browsers"].arg(seen), id)
	n, err := s.db.conn.Exec(ctx, s.db.q.proofs.renewBrowser, args...)
	switch {
	case is(err, unique):
		return storage.ErrConflict
	case err == nil && n == 0:
		return storage.ErrNotFound
	}
	return err
}

// List implements [storage.BrowserStore]. The browser that was seen last comes first.
// Expired rows are included.
func (s browsers) List(ctx context.Context, userID string) (list []storage.Browser, err error) {
	if err = s.db.needs("browsers"); err == nil {
		err = s.db.each(ctx, s.db.q.proofs.browsersOf, userID, func(scan func(...any) error) error {
			var row browserRow
			err := scan(s.db.into("browsers", row.dest())...)
			list = append(list, row.read())
			return err
		})
	}
	return list, fail(ctx, "list browsers", err)
}

// Delete implements [storage.BrowserStore]. It returns how many rows it removed, 0 if
// there are none. With an empty publicID it removes all browsers of the user.
func (s browsers) Delete(ctx context.Context, userID, publicID string) (int, error) {
	err := errors.Join(ctx.Err(), s.db.needs("browsers"))
	if err != nil || !s.db.findableID(userID) || !findable(publicID) {
		return 0, fail(ctx, "delete browsers", err)
	}
	statement, args := s.db.q.proofs.deleteBrowsers, []any{userID}
	if publicID != "" {
		statement, args = s.db.q.proofs.deleteBrowser, append(args, publicID)
	}
	var n int64
	err = s.db.byID(ctx, func(db *database) (err error) { n, err = db.conn.Exec(ctx, statement, args...); return err })
	if errors.Is(err, storage.ErrNotFound) {
		err = nil
	}
	return int(n), fail(ctx, "delete browsers", err)
}
