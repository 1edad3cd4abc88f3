package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// mostNamed is how often sessions are looked for again that were renewed meanwhile.
const mostNamed = 20

var errStillNamed = errors.New("sessions are renewed as fast as they are deleted")

// DeleteProviderSessions implements [storage.ProviderLogoutAdapter]. It returns the deleted
// sessions without Token, also beside an error. It returns an [errors.ErrUnsupported] if the
// layout lacks provider_sid, provider_sub or provider_issued of sessions.
func (s *Store) DeleteProviderSessions(ctx context.Context, sids, subs []string, issued time.Time) (gone []storage.StoredSession, err error) {
	column, names := "provider_sid", sids
	if len(sids) == 0 {
		column, names = "provider_sub", subs
	}
	gone, err = s.sessions.deleteNamed(ctx, column, names, issued)
	return gone, fail(ctx, "delete provider sessions", err)
}

// deleteNamed deletes the sessions that have one of the names in a column, "provider_sid"
// or "provider_sub", and whose ID token was issued no later than issued, or at an unknown
// time. It returns the sessions that it deleted, also beside an error. It ignores empty
// names. It looks again for sessions that were renewed meanwhile and so have another
// token, and returns errStillNamed if there still are some after mostNamed times.
func (s sessions) deleteNamed(ctx context.Context, column string, names []string, issued time.Time) (gone []storage.StoredSession, err error) {
	l := s.db.layout
	if !l.has("sessions.provider_sid") || !l.has("sessions.provider_sub") || !l.has("sessions.provider_issued") {
		return nil, fmt.Errorf("the table of sessions has no columns for what a provider calls them: %w", errors.ErrUnsupported)
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !findable(name) || name == "" })
	if len(names) == 0 {
		return nil, ctx.Err()
	}
	statement := l.sql("SELECT {sessions.*} FROM {sessions} WHERE {sessions." + column + "} IN (?" + strings.Repeat(", ?", len(names)-1) + ")" +
		" AND ({sessions.provider_issued} IS NULL OR {sessions.provider_issued} <= ?)")
	args := make([]any, 0, len(names)+1)
	for _, name := range names {
		args = append(args, name)
	}
	args = append(args, l.arg(issued))
	for range mostNamed {
		found, err := s.read(ctx, statement, args)
		if err != nil || len(found) == 0 {
			return gone, err
		}
		for _, row := range found {
			n, err := s.deleteStored(ctx, row.session.Token)
			if err != nil {
				return gone, err
			}
			if n > 0 {
				gone = append(gone, row.read(""))
			}
		}
	}
	return gone, errStillNamed
}

// read returns the rows that a statement selects with {sessions.*}.
func (s sessions) read(ctx context.Context, statement string, args []any) (found []sessionRow, err error) {
	err = s.db.conn.Each(ctx, statement, args, func(scan func(...any) error) error {
		var row sessionRow
		err := scan(s.db.into("sessions", row.dest())...)
		found = append(found, row)
		return err
	})
	return found, err
}
