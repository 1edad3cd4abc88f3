package dynamoadapter

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
)

// sweep removes the accounts and sessions of a user, those of Auth.js included.
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

func (p userConn) keyOf(one item) item { return item{p.pk: one[p.pk], p.sk: one[p.sk]} }

// forget removes the note of an item that a user had, unless the item was written anew,
// which happens before its note is. A note that stays leads to nothing.
func (p userConn) forget(ctx context.Context, note kvstore.Key, user string, of item) {
	found, err := p.conn.Get(ctx, note)
	if err != nil || len(found) == 0 || holderOf(found[0]).User != user {
		return
	}
	if anew, err := p.items(ctx, p.keyOf(of)); err == nil && len(anew) == 0 {
		_, _ = p.conn.Delete(ctx, note, found[0].Version)
	}
}
