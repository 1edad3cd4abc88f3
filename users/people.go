package users

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/internal/people"
	"github.com/latchkeyhq/latchkey/storage"
)

// Order is the order of a list of users.
type Order = storage.Order

// The orders.
const (
	Newest = storage.Newest // by the time at which they were created, the newest first; then users of unknown age
	ByID   = storage.ByID
)

// InputError reports a field of an argument that makes no sense. errors.As finds a
// *InputError, and errors.Is says that it is latchkey.ErrInvalidConfig.
type InputError = fault.InputError

// Query says which users a list has. The zero Query has all users. An Order or filter that
// the store does not support is an [errors.ErrUnsupported].
type Query struct {
	Search              string               // the beginning of a name or of an e-mail address, at most 200 bytes; Order must be empty then
	From, Before        time.Time            // created at From or later, and before Before; leaves out users of unknown age
	Suspended, Verified *bool                // nil: either
	Provider            string               // has an account of this provider
	Kind                storage.ProviderType // has an account of this kind
	Order               Order                // Newest or ByID; empty: Newest, or ByID in a store that does not support Newest
	Limit               int                  // users of a page, at most 200; 0: 50, and in All 200
	After               string               // Page.Next of the same query
}

// Page is a part of a list. It may be short or empty and not the last.
type Page struct {
	Users []storage.User
	Next  string // empty: the last page. It is opaque, and valid for a day
	Order Order  // the order in force; empty: that of a search
}

// ByEmail returns the user with the e-mail address email. It first trims the address, and
// puts it into lower case and Unicode NFKC, and its domain into ASCII. It does not call
// latchkey.Email.Normalize: a site that has one calls it first. A text that is no e-mail
// address is ErrNotFound.
func (u *Users) ByEmail(ctx context.Context, email string) (storage.User, error) {
	w, err := u.backend.Open(ctx)
	if err != nil {
		return storage.User{}, err
	}
	email, err = mailbox.Normalize(email)
	if err != nil {
		return storage.User{}, storage.ErrNotFound
	}
	return w.Store.UserByEmail(ctx, email)
}

// ByAccount returns the user that an account is linked to. An empty provider or
// providerAccountID is ErrNotFound.
func (u *Users) ByAccount(ctx context.Context, provider, providerAccountID string) (storage.User, error) {
	w, err := u.backend.Open(ctx)
	if err != nil {
		return storage.User{}, err
	}
	if provider == "" || providerAccountID == "" {
		return storage.User{}, storage.ErrNotFound
	}
	return w.Store.UserByAccount(ctx, provider, providerAccountID)
}

// List returns a page of users. A field of q that makes no sense is an [InputError]. A
// search ignores case and accents; it returns matches of the address first, and no user
// twice. List needs an Adapter that is a [storage.DirectoryAdapter]. With any other
// Adapter a search without filters finds the user whose e-mail address or id is exactly
// q.Search, and every other list is an error that is [errors.ErrUnsupported].
func (u *Users) List(ctx context.Context, q Query) (Page, error) {
	r, w, err := u.reader(ctx, "Users.List")
	onlySearch := Query{Search: q.Search, Limit: q.Limit}
	if errors.Is(err, errors.ErrUnsupported) && q.Search != "" && q == onlySearch {
		return exact(ctx, w, q.Search)
	}
	if err != nil {
		return Page{}, err
	}
	page, err := r.List(ctx, people.Query(q))
	return Page(page), err
}

// All returns the users of all pages, from q.After on. It reads them page by page while
// the caller consumes them. It returns a user that exists throughout exactly once.
// After an error, which comes with a zero user, it yields nothing more. A field of q
// that makes no sense is an [InputError]. It needs what List needs; without it the
// error is [errors.ErrUnsupported] too, also for a search.
func (u *Users) All(ctx context.Context, q Query) iter.Seq2[storage.User, error] {
	return func(yield func(storage.User, error) bool) {
		r, _, err := u.reader(ctx, "Users.All")
		if err != nil {
			yield(storage.User{}, err)
			return
		}
		r.All(ctx, people.Query(q))(yield)
	}
}

// Count returns how many users match q, whatever q.After is. n is at most 10,000, and
// more reports whether there are more than that. Count needs what All needs.
func (u *Users) Count(ctx context.Context, q Query) (n int, more bool, err error) {
	r, _, err := u.reader(ctx, "Users.Count")
	if err != nil {
		return 0, false, err
	}
	return r.Count(ctx, people.Query(q))
}

// reader returns the reader of lists, and the directory. If the Adapter has no lists,
// it returns an ErrUnsupported that names call, and the directory all the same.
func (u *Users) reader(ctx context.Context, call string) (*people.Reader, *directory.Work, error) {
	w, err := u.backend.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	store := w.Store.People()
	if store == nil {
		return nil, w, w.Store.Lacks(call, directory.AbilityPeople)
	}
	return &people.Reader{Store: store, Cursors: w.Cursors, Canonical: mailbox.Canonical}, w, nil
}

// exact returns a page with the one user whose e-mail address or id is search, or an empty
// page. It is for stores without lists.
func exact(ctx context.Context, w *directory.Work, search string) (Page, error) {
	var found storage.User
	err := error(storage.ErrNotFound)
	if email, invalid := mailbox.Normalize(search); invalid == nil {
		found, err = w.Store.UserByEmail(ctx, email)
	}
	if errors.Is(err, storage.ErrNotFound) {
		found, err = w.Store.User(ctx, search)
	}
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return Page{}, nil
	case err != nil:
		return Page{}, err
	}
	return Page{Users: []storage.User{found}}, nil
}
