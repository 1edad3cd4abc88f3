package memoryadapter

import (
	"cmp"
	"context"
	"slices"

	"github.com/latchkeyhq/latchkey/storage"
)

// mostChallenges is the length of a list that a query with no limit returns.
const mostChallenges = 1000

// Challenges implements [storage.ChallengeAdapter].
func (a *Adapter) Challenges() storage.ChallengeStore { return challenges{a} }

// challenges is the store of challenges of an adapter.
type challenges struct{ a *Adapter }

// Create implements [storage.ChallengeStore].
func (s challenges) Create(ctx context.Context, c storage.Challenge) error {
	return s.a.withData(ctx, func(d *data) error {
		if _, taken := d.challenges[c.ID]; taken {
			return storage.ErrConflict
		}
		c.Created, c.Expires = utc(c.Created), utc(c.Expires)
		put(d, d.challenges, c.ID, c)
		return nil
	})
}

// Get implements [storage.ChallengeStore].
func (s challenges) Get(ctx context.Context, id string) (c storage.Challenge, err error) {
	err = s.a.withData(ctx, func(d *data) (err error) {
		c, err = find(d.challenges, id)
		return err
	})
	return c, err
}

// List implements [storage.ChallengeStore].
func (s challenges) List(ctx context.Context, q storage.ChallengeQuery) (list []storage.Challenge, err error) {
	err = s.a.withData(ctx, func(d *data) error {
		for _, c := range d.challenges {
			if isAsked(q, c) {
				list = append(list, c)
			}
		}
		return nil
	})
	slices.SortFunc(list, newestChallenge)
	if most := cmp.Or(q.Limit, mostChallenges); len(list) > most {
		list = list[:most]
	}
	return list, err
}

// isAsked reports whether a query names a challenge. An empty tenant in the query
// matches only challenges without a tenant. Any other empty member matches every
// challenge.
func isAsked(q storage.ChallengeQuery, c storage.Challenge) bool {
	return c.Tenant == q.Tenant && matches(q.Purpose, c.Purpose) && matches(q.UserID, c.UserID) && matches(q.Identifier, c.Identifier)
}

// matches reports whether a stored text is the one that is asked for. An empty
// asked matches every text.
func matches(asked, stored string) bool { return asked == "" || asked == stored }

// newestChallenge compares challenges so that the newest comes first.
func newestChallenge(a, b storage.Challenge) int {
	return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
}

// Try implements [storage.ChallengeStore].
func (s challenges) Try(ctx context.Context, id string, most int) (c storage.Challenge, err error) {
	err = s.a.withData(ctx, func(d *data) error {
		found, err := find(d.challenges, id)
		if err != nil {
			return err
		}
		if found.Tries >= most {
			return storage.ErrConflict
		}
		found.Tries++
		put(d, d.challenges, id, found)
		c = found
		return nil
	})
	return c, err
}

// Take implements [storage.ChallengeStore].
func (s challenges) Take(ctx context.Context, id string) (c storage.Challenge, err error) {
	err = s.a.withData(ctx, func(d *data) (err error) {
		c, err = take(d, d.challenges, id)
		return err
	})
	return c, err
}

// Delete implements [storage.ChallengeStore]. With an empty userID it removes nothing.
func (s challenges) Delete(ctx context.Context, userID string, purposes ...string) (n int, err error) {
	err = s.a.withData(ctx, func(d *data) error {
		n = removeIf(d, d.challenges, func(_ string, c storage.Challenge) bool {
			return userID != "" && c.UserID == userID && (len(purposes) == 0 || slices.Contains(purposes, c.Purpose))
		})
		return nil
	})
	return n, err
}
