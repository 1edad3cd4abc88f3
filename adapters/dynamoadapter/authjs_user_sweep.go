package dynamoadapter

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
)

// sweep removes the accounts and sessions of the user with the key k, those of Auth.js
// included, and their notes. It returns the first error, and then leaves the rest.
func (p userConn) sweep(ctx context.Context, k kvstore.Key) error {
	for _, begin := range []string{ofSession, ofAccount} {
		found, err := p.partition(ctx, keyText(k), begin)
		if err != nil {
			return err
		}
		for _, one := range found {
			_, err := p.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &p.table, Key: p.keyOf(one)})
			if err != nil {
				return failure(ctx, err)
			}
			if begin == ofAccount {
				p.forget(ctx, noteOfAccount(textOf(one["provider"]), textOf(one["providerAccountId"])), k.Name, one)
			} else {
				p.forget(ctx, noteOfSession(textOf(one["sessionToken"])), k.Name, one)
			}
		}
	}
	return nil
}

// keyOf returns the keys of an item.
func (p userConn) keyOf(one item) item { return item{p.pk: one[p.pk], p.sk: one[p.sk]} }

// forget removes a note that leads to the user, after the item that the note is of was
// deleted. It keeps the note if there is such an item again: a call writes the item
// before its note. It ignores errors: a note that stays leads to nothing.
func (p userConn) forget(ctx context.Context, note kvstore.Key, user string, of item) {
	found, err := p.conn.Get(ctx, note)
	if err != nil || len(found) == 0 || holderOf(found[0]).User != user {
		return
	}
	if anew, err := p.items(ctx, p.keyOf(of)); err == nil && len(anew) == 0 {
		_, _ = p.conn.Delete(ctx, note, found[0].Version)
	}
}
