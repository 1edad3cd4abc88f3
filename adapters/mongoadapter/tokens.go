package mongoadapter

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkeyhq/latchkey/storage"
)

// SharesTokens implements [storage.TokenSharer]. It returns true with
// [Options].PlainTokens, because other programs read the same accounts.
func (a *Adapter) SharesTokens() bool { return a.tokens.plain }

// SwapTokens implements [storage.TokenAdapter]. One command compares and replaces.
func (a *Adapter) SwapTokens(ctx context.Context, provider, providerAccountID string, old, next storage.Tokens) error {
	return fail(ctx, "swap tokens", swapTokens(ctx, a, provider, providerAccountID, old, next))
}

// swapTokens replaces the tokens of an account if the stored access token and refresh
// token are those of old. Otherwise it returns ErrConflict, and ErrNotFound if there is
// no account or its user was deleted.
func swapTokens(ctx context.Context, a *Adapter, provider, providerAccountID string, old, next storage.Tokens) error {
	change, err := tokenChange(next)
	if err != nil {
		return err
	}
	d, err := a.findAccount(ctx, provider, providerAccountID)
	if err != nil {
		return err
	}
	if !storable(old.AccessToken, old.RefreshToken) {
		return storage.ErrConflict
	}
	same := bson.D{{Key: "_id", Value: d.ID}, {Key: "access_token", Value: textOrNone(old.AccessToken)}, {Key: "refresh_token", Value: textOrNone(old.RefreshToken)}}
	done, err := a.accounts.UpdateOne(ctx, same, change)
	if err != nil || done.MatchedCount == 1 {
		return err
	}
	if _, err := a.findAccount(ctx, provider, providerAccountID); err != nil {
		return err
	}
	return storage.ErrConflict
}

// textOrNone returns the condition that a field is the text. For an empty text the
// condition is that the field is absent, null or empty.
func textOrNone(text string) any {
	if text == "" {
		return bson.D{{Key: "$in", Value: bson.A{nil, ""}}}
	}
	return text
}

// tokenFields are the fields of an account that hold its tokens.
var tokenFields = []string{
	"access_token", "refresh_token", "id_token", "expires_at", "scope", "session_state", "token_type", "authorization_details", "tokenExtra",
}

// tokenChange returns the update that replaces the tokens of an account and nothing
// else. It returns errText or errValue for tokens that cannot be stored.
func tokenChange(t storage.Tokens) (bson.D, error) {
	d, err := newAccountDoc(storage.Account{Tokens: t})
	if err != nil {
		return nil, err
	}
	raw, err := bson.Marshal(d)
	if err != nil {
		return nil, err
	}
	var set, unset bson.D
	for _, name := range tokenFields {
		if value := bson.Raw(raw).Lookup(name); value.IsZero() {
			unset = append(unset, bson.E{Key: name, Value: ""})
		} else {
			set = append(set, bson.E{Key: name, Value: value})
		}
	}
	var change bson.D
	if len(set) > 0 {
		change = append(change, bson.E{Key: "$set", Value: set})
	}
	if len(unset) > 0 {
		change = append(change, bson.E{Key: "$unset", Value: unset})
	}
	return change, nil
}

// leaseDoc is a lease that was not released.
type leaseDoc struct {
	ID      string    `bson:"_id"`
	Holder  string    `bson:"holder"`
	Expires time.Time `bson:"expires"`
}

// Lease implements [storage.LeaseStore]. It uses the clock of the instance, so the
// clocks of several instances should agree: an instance whose clock is ahead may give
// the lease to a second holder too early. The holder of an expired lease is remembered
// for a day. If other calls are faster at each of its tries, Lease returns a lease that
// is not held, with a Wait of one millisecond.
func (a *Adapter) Lease(ctx context.Context, key, holder string, life time.Duration) (storage.Lease, error) {
	if !storable(holder) {
		return storage.Lease{}, fail(ctx, "lease", errText)
	}
	for range tries {
		given, decided, err := lease(ctx, a.leases, keyOf(key), holder, life)
		if err != nil || decided {
			return given, fail(ctx, "lease", err)
		}
	}
	return storage.Lease{Wait: time.Millisecond}, nil // others are faster each time
}

// lease gives the lease to holder in one command if it is free or holder's own.
// Otherwise it returns how long to wait. decided is false if other calls have changed
// the lease meanwhile; the caller then tries again.
func lease(ctx context.Context, leases *collection, id, holder string, life time.Duration) (given storage.Lease, decided bool, err error) {
	now := time.Now()
	until := now.Add(life)
	free := bson.A{bson.D{{Key: "holder", Value: holder}}, bson.D{{Key: "expires", Value: bson.D{{Key: "$lte", Value: now}}}}}
	taken := bson.D{{Key: "$set", Value: bson.D{{Key: "holder", Value: holder}, {Key: "expires", Value: until}}}}
	before := options.FindOneAndUpdate().SetReturnDocument(options.Before)
	var last leaseDoc
	err = orNotFound(leases.FindOneAndUpdate(ctx, bson.D{{Key: "_id", Value: id}, {Key: "$or", Value: free}}, taken, before).Decode(&last))
	if err == nil {
		return storage.Lease{Held: true, Abandoned: last.Holder != holder && now.Before(last.Expires.Add(grace))}, true, nil
	}
	if !errors.Is(err, storage.ErrNotFound) {
		return given, false, err
	}
	err = leases.add(ctx, leaseDoc{ID: id, Holder: holder, Expires: until})
	if err == nil {
		return storage.Lease{Held: true}, true, nil
	}
	if !errors.Is(err, storage.ErrConflict) {
		return given, false, err
	}
	err = find(ctx, leases, bson.D{{Key: "_id", Value: id}}, &last)
	if errors.Is(err, storage.ErrNotFound) {
		return given, false, nil
	}
	left := last.Expires.Sub(now)
	return storage.Lease{Wait: left}, last.Holder != holder && left > 0, err
}

// Release implements [storage.LeaseStore]. It returns nil if the lease is another
// holder's, or if there is none.
func (a *Adapter) Release(ctx context.Context, key, holder string) error {
	if !storable(holder) {
		return fail(ctx, "release", ctx.Err())
	}
	_, err := a.leases.DeleteOne(ctx, bson.D{{Key: "_id", Value: keyOf(key)}, {Key: "holder", Value: holder}})
	return fail(ctx, "release", err)
}
