// Package people lists and searches users, page by page. It knows neither requests
// nor configuration.
package people

import (
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/storage"
)

// Query says which users a list has. It has the fields of users.Query.
type Query struct {
	Search              string
	From, Before        time.Time
	Suspended, Verified *bool
	Provider            string
	Kind                storage.ProviderType
	Order               storage.Order
	Limit               int
	After               string
}

// Sizes of pages and of what is looked at.
const (
	usualLimit = 50
	mostLimit  = 200
	window     = 5000   // rows that one call looks at for a filter
	mostCount  = 10_000 // users that are counted
	mostSearch = 200    // bytes of a search
)

// wrong returns an InputError for a field of a query.
func wrong(field, problem string) error { return &fault.InputError{Field: field, Problem: problem} }

// check returns an InputError for a field that makes no sense. It does not look at After.
func (q *Query) check() error {
	kinds := []storage.ProviderType{"", storage.TypeOAuth, storage.TypeOIDC, storage.TypeEmail, storage.TypeCredentials, storage.TypeWebAuthn}
	switch {
	case q.Limit < 0 || q.Limit > mostLimit:
		return wrong("Limit", "it is 1 to 200, or 0 for 50")
	case !q.From.IsZero() && !q.Before.IsZero() && q.From.After(q.Before):
		return wrong("From", "it is after Before")
	case !slices.Contains([]storage.Order{"", storage.Newest, storage.ByID}, q.Order):
		return wrong("Order", "it is Newest, ByID or empty")
	case q.Search != "" && q.Order != "":
		return wrong("Order", "a search has an order of its own: leave it empty")
	case !slices.Contains(kinds, q.Kind):
		return wrong("Kind", "there is no such kind of provider")
	case !isPlain(q.Provider, 255):
		return wrong("Provider", "it is no id of a provider")
	case !isPlain(q.Search, mostSearch):
		return wrong("Search", "it has control characters, or more than 200 bytes")
	}
	return nil
}

// isPlain reports whether text is valid UTF-8 of at most most bytes, and has no control
// characters.
func isPlain(text string, most int) bool {
	return len(text) <= most && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// stored returns the query as a store gets it, with a Limit but without After. canonical
// returns the form in which e-mail addresses are stored. If canonical fails, the search
// is for names only.
func (q *Query) stored(now time.Time, canonical func(string) (string, error)) storage.PeopleQuery {
	s := storage.PeopleQuery{
		Order: q.Order, From: wholeMillisecond(q.From), Before: wholeMillisecond(q.Before),
		Suspended: q.Suspended, Verified: q.Verified, Provider: q.Provider, Kind: q.Kind,
		Now: now, Limit: q.Limit, Window: window,
	}
	if s.Limit == 0 {
		s.Limit = usualLimit
	}
	if q.Search != "" {
		s.Folded = storage.FoldName(q.Search)
		if prefix, err := canonical(q.Search); err == nil {
			s.Prefix = prefix
		}
	}
	return s
}

// finds reports whether a search has anything to look for.
func finds(s *storage.PeopleQuery) bool { return s.Prefix != "" || s.Folded != "" }

// wholeMillisecond returns t rounded up to a millisecond, as stores keep milliseconds.
func wholeMillisecond(t time.Time) time.Time {
	if whole := t.Truncate(time.Millisecond); whole.Before(t) {
		return whole.Add(time.Millisecond)
	}
	return t.Truncate(time.Millisecond)
}

// isUnsupported reports whether err says that a store does not keep an order.
func isUnsupported(err error) bool { return errors.Is(err, errors.ErrUnsupported) }
