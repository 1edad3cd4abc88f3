package directory

import (
	"context"
	"errors"
	"fmt"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/storage"
)

// People returns the lists of the adapter, with a deadline for each call, or nil if
// it has none.
func (s *Store) People() storage.PeopleStore {
	if s.people == nil {
		return nil
	}
	return peopleStore{s}
}

// Lacks returns the error for a call that needs an ability which the adapter does not
// have. It is an [errors.ErrUnsupported].
func (s *Store) Lacks(call string, a Ability) error {
	return failure.Wrap(fault.ErrMissingAdapterMethods, fmt.Errorf("%s needs an Adapter that is a %s; %T is not: %w", call, a, s.adapter, errors.ErrUnsupported))
}

type peopleStore struct{ *Store }

// pageOf is what a page has.
type pageOf struct {
	users []storage.User
	next  string
}

// isPage returns a function that reports whether a page has whole users, no more than q
// asks for, and another position than q.
func isPage(q *storage.PeopleQuery) func(pageOf) bool {
	return func(p pageOf) bool {
		for _, u := range p.users {
			if u.ID == "" {
				return false
			}
		}
		return len(p.users) <= q.Limit && (p.next == "" || p.next != q.After)
	}
}

// List implements [storage.PeopleStore].
func (p peopleStore) List(ctx context.Context, q storage.PeopleQuery) ([]storage.User, string, error) {
	return p.page(ctx, "People.List", q, p.people.People().List)
}

// Search implements [storage.PeopleStore].
func (p peopleStore) Search(ctx context.Context, q storage.PeopleQuery) ([]storage.User, string, error) {
	return p.page(ctx, "People.Search", q, p.people.People().Search)
}

func (p peopleStore) page(ctx context.Context, name string, q storage.PeopleQuery, read func(context.Context, storage.PeopleQuery) ([]storage.User, string, error)) ([]storage.User, string, error) {
	found, err := guarded.CallFor(ctx, p.bounds, name, isPage(&q), func(ctx context.Context) (found pageOf, err error) {
		found.users, found.next, err = read(ctx, q)
		return found, err
	})
	return found.users, found.next, err
}

// Count implements [storage.PeopleStore].
func (p peopleStore) Count(ctx context.Context, q storage.PeopleQuery, most int) (int, error) {
	return guarded.CallFor(ctx, p.bounds, "People.Count", func(n int) bool { return n >= 0 && n <= most }, func(ctx context.Context) (int, error) {
		return p.people.People().Count(ctx, q, most)
	})
}

// UserByAccount returns the user of an account, or ErrNotFound.
func (s *Store) UserByAccount(ctx context.Context, provider, providerAccountID string) (storage.User, error) {
	return s.userByAccount(ctx, &storage.Account{Provider: provider, ProviderAccountID: providerAccountID})
}
