package people

import (
	"context"
	"iter"

	"github.com/latchkeyhq/latchkey/storage"
)

// Reader reads lists of users from a store.
type Reader struct {
	Store     storage.PeopleStore
	Cursors   *Cursors
	Canonical func(email string) (string, error) // the form in which e-mail addresses are stored
}

// Page is a part of a list.
type Page struct {
	Users []storage.User
	Next  string        // sealed; empty: the last page
	Order storage.Order // in force; empty: a search
}

// List returns the page of the list that begins after q.After. It returns an InputError
// for a field of q that makes no sense, and for an After that is not the Next of a page
// of this query. Any other error is that of the store.
func (r *Reader) List(ctx context.Context, q Query) (Page, error) {
	if err := q.check(); err != nil {
		return Page{}, err
	}
	from, err := r.Cursors.open(&q)
	if err != nil {
		return Page{}, err
	}
	stored := q.stored(r.Cursors.now(), r.Canonical)
	stored.Order, stored.After = from.Order, from.Position
	page := Page{}
	if page.Users, page.Next, err = r.read(ctx, &q, &stored); err != nil {
		return Page{}, err
	}
	page.Order = stored.Order
	page.Next, err = r.Cursors.seal(&q, stored.Order, page.Next)
	return page, err
}

// read reads one page of a list or a search. For a list without an order it sets s.Order
// to Newest, or to ByID if the store lacks that. A search has no users if finds is false.
func (r *Reader) read(ctx context.Context, q *Query, s *storage.PeopleQuery) (users []storage.User, next string, err error) {
	switch {
	case q.Search != "" && !finds(s):
		return nil, "", ctx.Err()
	case q.Search != "":
		return r.Store.Search(ctx, *s)
	case s.Order != "":
		return r.Store.List(ctx, *s)
	}
	s.Order = storage.Newest
	users, next, err = r.Store.List(ctx, *s)
	if isUnsupported(err) {
		s.Order = storage.ByID
		users, next, err = r.Store.List(ctx, *s)
	}
	return users, next, err
}

// All yields the users of a list from q.After on, and reads them page by page; q.Limit is
// the size of a page, and 0 is 200. If it fails, it yields the error last, with an empty
// user: an InputError for a q that List would refuse.
func (r *Reader) All(ctx context.Context, q Query) iter.Seq2[storage.User, error] {
	return func(yield func(storage.User, error) bool) {
		err := q.check()
		from := cursor{}
		if err == nil {
			from, err = r.Cursors.open(&q)
		}
		stored := q.stored(r.Cursors.now(), r.Canonical)
		if q.Limit == 0 {
			stored.Limit = mostLimit
		}
		stored.Order, stored.After = from.Order, from.Position
		for err == nil {
			var users []storage.User
			if users, stored.After, err = r.read(ctx, &q, &stored); err != nil {
				break
			}
			for _, u := range users {
				if !yield(u, nil) {
					return
				}
			}
			if stored.After == "" {
				return
			}
			err = ctx.Err()
		}
		yield(storage.User{}, err)
	}
}

// Count returns how many users the whole list has, up to 10,000, and whether there are
// more. It ignores q.After. It returns an InputError for any other field of q that makes
// no sense.
func (r *Reader) Count(ctx context.Context, q Query) (n int, more bool, err error) {
	q.After = ""
	if err := q.check(); err != nil {
		return 0, false, err
	}
	stored := q.stored(r.Cursors.now(), r.Canonical)
	if q.Search != "" && !finds(&stored) {
		return 0, false, ctx.Err()
	}
	n, err = r.Store.Count(ctx, stored, mostCount+1)
	if err != nil {
		return 0, false, err
	}
	return min(n, mostCount), n > mostCount, nil
}
