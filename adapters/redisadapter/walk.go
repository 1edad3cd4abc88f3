package redisadapter

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
)

const (
	keysPerScan = 1000 // how many keys a server looks at for one SCAN
	mostRead    = 100  // how many values are read at once
)

// Walk implements [kvstore.WalkConn], with SCAN at each primary. A key that a cluster
// moves to another node meanwhile may be left out.
func (c *conn) Walk(ctx context.Context, kind kvstore.Kind, f func([]kvstore.Record) error) error {
	begin := c.key(kvstore.Key{Kind: kind})
	return c.scan(ctx, begin, func(found []string) error {
		var keys []kvstore.Key
		for _, key := range found {
			if name := strings.TrimPrefix(key, begin); !strings.Contains(name, ":") { // else of another prefix
				keys = append(keys, kvstore.Key{Kind: kind, Name: name})
			}
		}
		if len(keys) == 0 {
			return nil
		}
		page, err := c.Get(ctx, keys...)
		if err != nil {
			return err
		}
		return f(page)
	})
}

// scan calls f with the keys that begin with a text, at most mostRead at a time and none
// twice in one call. It ends with the first error of f.
func (c *conn) scan(ctx context.Context, begin string, f func([]string) error) error {
	nodes, err := c.primaries(ctx)
	if err != nil {
		return fault("SCAN", err)
	}
	for _, node := range nodes {
		for cursor, again := uint64(0), true; again; again = cursor != 0 {
			type answer struct {
				keys   []string
				cursor uint64
			}
			got, err := bounded(ctx, c, func() (answer, error) {
				keys, next, err := node.Scan(ctx, cursor, literally.Replace(begin)+"*", keysPerScan).Result()
				return answer{keys, next}, err
			})
			if err != nil {
				return fault("SCAN", err)
			}
			cursor = got.cursor
			slices.Sort(got.keys)
			for some := range slices.Chunk(slices.Compact(got.keys), mostRead) {
				if err := f(some); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// literally escapes what has a meaning in the pattern of SCAN.
var literally = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)

// primaries returns a client for each server that has keys of its own.
func (c *conn) primaries(ctx context.Context) (nodes []redis.Cmdable, err error) {
	cluster, is := c.client.(*redis.ClusterClient)
	if !is {
		return []redis.Cmdable{c.client}, nil
	}
	var mu sync.Mutex
	err = cluster.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		nodes = append(nodes, node)
		return nil
	})
	return nodes, err
}

// EachAccount implements [storage.AccountWalker]. Like GetAccount it does not ask whether
// the account's user was deleted.
func (a *authJS) EachAccount(ctx context.Context, f func(storage.Account) error) error {
	return a.keys.conn.scan(ctx, a.keys.conn.prefix+ofAccount, func(keys []string) error {
		texts, err := a.keys.texts(ctx, keys...)
		if err != nil {
			return err
		}
		for i, text := range texts {
			var o accountObject
			if !decodeObject(text, &o) || keys[i] != a.keys.at(ofAccount, accountID(o.Provider, o.ProviderAccountID)) {
				continue
			}
			account, err := asAccount(text, o.Provider, o.ProviderAccountID)
			if err != nil { // it names no user
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := f(account); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}
