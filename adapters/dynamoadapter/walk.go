package dynamoadapter

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// Walk implements [kvstore.WalkConn]. It reads the whole table, with what that costs.
func (c *conn) Walk(ctx context.Context, kind kvstore.Kind, f func([]kvstore.Record) error) error {
	begin := keyText(kvstore.Key{Kind: kind})
	return c.scan(ctx, begin, func(items []item) error {
		var page []kvstore.Record
		for _, one := range items {
			if textOf(one[c.pk]) == textOf(one[c.sk]) { // else of another layout
				page = append(page, recordOf(kvstore.Key{Kind: kind, Name: strings.TrimPrefix(textOf(one[c.sk]), begin)}, one))
			}
		}
		return f(page)
	})
}

// scan calls f with the items of the whole table whose sort key begins with a text, a page
// at a time and by consistent reads. It ends with the first error of f.
func (c *conn) scan(ctx context.Context, begin string, f func([]item) error) error {
	in := &dynamodb.ScanInput{
		TableName: &c.table, ConsistentRead: new(true), FilterExpression: new("begins_with(#sk, :sk)"),
		ExpressionAttributeNames: map[string]string{"#sk": c.sk}, ExpressionAttributeValues: item{":sk": text(begin)},
	}
	for {
		out, err := c.client.Scan(ctx, in)
		if err != nil {
			return failure(ctx, err)
		}
		if err := f(out.Items); err != nil {
			return err
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
			return nil
		}
	}
}

// EachAccount implements [storage.AccountWalker]. It hands over accounts that Auth.js has
// linked, too, and reads the whole table.
func (a *authJS) EachAccount(ctx context.Context, f func(storage.Account) error) error {
	return a.items.db.scan(ctx, ofAccount, func(items []item) error {
		for _, in := range items {
			is, err := a.accounts.isAlive(ctx, in)
			if err != nil {
				return err
			}
			if !is {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := f(a.accounts.asAccount(in)); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}

// isAlive reports whether an item is an account that signs a user in. It returns false for
// an item of another kind, and for an account of a deleted user.
func (s *accountItems) isAlive(ctx context.Context, in item) (bool, error) {
	user, provider, id := textOf(in["userId"]), textOf(in["provider"]), textOf(in["providerAccountId"])
	at := s.accountAt(user, provider, id)
	if textOf(at[s.db.pk]) != textOf(in[s.db.pk]) || textOf(at[s.db.sk]) != textOf(in[s.db.sk]) {
		return false, nil
	}
	born, err := s.users.birthOf(ctx, user)
	if errors.Is(err, storage.ErrNotFound) || err == nil && !isBorn(in, born) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return s.isLinked(ctx, in)
}
