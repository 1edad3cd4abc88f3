package memoryadapter

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey/storage"
)

// peopleStores are the stores of an adapter that are about people.
type peopleStores struct{ of *Adapter }

// People implements [storage.DirectoryAdapter].
func (s peopleStores) People() storage.PeopleStore { return people{s.of} }

// people lists and searches users by looking at all of them.
type people struct{ a *Adapter }

// place is where a user stands in a list. Places are compared by part, then by key,
// then by id.
type place struct {
	part byte // 'c' created, 'u' of unknown age, 'i' by id, 'e' by e-mail address, 'n' by name
	key  string
	id   string
}

// compare returns a negative number if p comes before o in a list, and 0 if they
// are the same place.
func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(strings.IndexByte(parts, p.part), strings.IndexByte(parts, o.part)), cmp.Compare(p.key, o.key), cmp.Compare(p.id, o.id))
}

// parts are the parts of all lists in their order.
const parts = "cuien"

// String returns the place as a position, for [storage.PeopleQuery].After of a later query.
func (p place) String() string { return string(p.part) + strconv.Quote(p.key) + p.id }

// parsePlace returns the place of a position that String returned. It returns an error
// for a text that is not of that form.
func parsePlace(text string) (p place, err error) {
	if text == "" || !strings.Contains(parts, text[:1]) {
		return p, fmt.Errorf("memoryadapter: %q is no position", text)
	}
	key, err := strconv.QuotedPrefix(text[1:])
	if err != nil {
		return p, fmt.Errorf("memoryadapter: %q is no position", text)
	}
	p = place{part: text[0], id: text[1+len(key):]}
	p.key, err = strconv.Unquote(key)
	return p, err
}

// List implements [storage.PeopleStore].
func (p people) List(ctx context.Context, q storage.PeopleQuery) ([]storage.User, string, error) {
	return p.page(ctx, &q, placeInList)
}

// Search implements [storage.PeopleStore].
func (p people) Search(ctx context.Context, q storage.PeopleQuery) ([]storage.User, string, error) {
	return p.page(ctx, &q, placeInSearch)
}

// Count implements [storage.PeopleStore].
func (p people) Count(ctx context.Context, q storage.PeopleQuery, most int) (n int, err error) {
	where := placeInList
	if q.Prefix != "" || q.Folded != "" {
		where = placeInSearch
	}
	err = p.a.withData(ctx, func(d *data) error {
		for _, u := range d.users {
			if _, found := where(&q, &u); found && d.fits(&q, &u) {
				n++
			}
		}
		n = min(n, most)
		return nil
	})
	return n, err
}

// page returns users in the order of their places. The position next is "" at the end;
// otherwise more users may follow it. The users are those after the position q.After for
// which where returns true and that the filters of q leave in. page returns at most q.Limit
// users, and asks the filters about no more than q.Window; both are positive. It returns an
// error if q.After is neither empty nor a position.
func (p people) page(ctx context.Context, q *storage.PeopleQuery, where func(*storage.PeopleQuery, *storage.User) (place, bool)) (users []storage.User, next string, err error) {
	var after place
	if q.After != "" {
		if after, err = parsePlace(q.After); err != nil {
			return nil, "", err
		}
	}
	err = p.a.withData(ctx, func(d *data) error {
		var ahead []place
		for _, u := range d.users {
			if at, found := where(q, &u); found && (q.After == "" || at.compare(after) > 0) {
				ahead = append(ahead, at)
			}
		}
		slices.SortFunc(ahead, place.compare)
		for i, at := range ahead {
			if i == q.Window {
				next = ahead[i-1].String()
				break
			}
			u := d.users[at.id]
			if !d.fits(q, &u) {
				continue
			}
			found, err := d.person(u)
			if err != nil {
				return err
			}
			if users = append(users, found); len(users) == q.Limit {
				next = at.String()
				break
			}
		}
		return nil
	})
	return users, next, err
}

// placeInList returns where a user stands in a list of the order q.Order. The second
// result is always true.
func placeInList(q *storage.PeopleQuery, u *storage.User) (place, bool) {
	switch {
	case q.Order == storage.ByID:
		return place{'i', "", u.ID}, true
	case u.Created.IsZero():
		return place{'u', "", u.ID}, true
	}
	// Later instants have smaller keys. Of one instant the larger id comes first.
	return place{'c', fmt.Sprintf("%020d", 1<<62-u.Created.UnixMilli()) + reversed(u.ID), u.ID}, true
}

// reversed returns a text for an id. Such texts sort in the opposite order of
// their ids.
func reversed(id string) string {
	b := []byte(id)
	for i := range b {
		b[i] = ^b[i]
	}
	return string(b) + "\xff"
}

// placeInSearch returns where a user stands in a search for q.Prefix and q.Folded. It
// returns false if neither finds the user. An empty one finds no user.
func placeInSearch(q *storage.PeopleQuery, u *storage.User) (place, bool) {
	if q.Prefix != "" && strings.HasPrefix(u.Email, q.Prefix) {
		return place{'e', u.Email, u.ID}, true
	}
	if key := storage.FoldName(u.Name); q.Folded != "" && strings.HasPrefix(key, q.Folded) {
		return place{'n', key, u.ID}, true
	}
	return place{}, false
}

// fits reports whether the filters of a query leave a user in. Prefix and Folded are not
// among them: see placeInSearch.
func (d *data) fits(q *storage.PeopleQuery, u *storage.User) bool {
	switch {
	case q.Verified != nil && *q.Verified == u.EmailVerified.IsZero(),
		!q.From.IsZero() && (u.Created.IsZero() || u.Created.Before(q.From)),
		!q.Before.IsZero() && (u.Created.IsZero() || !u.Created.Before(q.Before)):
		return false
	case q.Suspended != nil:
		s, known := d.suspensions[u.ID]
		if *q.Suspended != (known && s.Holds(q.Now)) {
			return false
		}
	}
	return (q.Provider == "" || d.hasAccount(u.ID, func(a *storage.Account) bool { return a.Provider == q.Provider })) &&
		(q.Kind == "" || d.hasAccount(u.ID, func(a *storage.Account) bool { return a.Type == q.Kind }))
}

// hasAccount reports whether the user has an account for which is(account) is true.
func (d *data) hasAccount(userID string, is func(*storage.Account) bool) bool {
	for _, a := range d.accounts {
		if a.UserID == userID && is(&a) {
			return true
		}
	}
	return false
}

// person returns a copy of a user with the user's suspension, in force or not, if there
// is one.
func (d *data) person(u storage.User) (storage.User, error) {
	out, err := copyUser(u)
	if s, suspended := d.suspensions[u.ID]; suspended {
		out.Suspension = &s
	}
	return out, err
}
