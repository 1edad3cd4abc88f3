package redisadapter

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
)

// single is a conn to a server that has all keys, so that one script can read a record
// and its user.
type single struct {
	*conn
	oneKey *atomic.Bool // it has turned out to refuse scripts that read a key that was not named
}

// GetWithUser implements [kvstore.Follower]. If the server refuses scripts that read a
// key that was not named, it returns the record alone, and sends the server no such
// script again.
func (s single) GetWithUser(ctx context.Context, k kvstore.Key) ([]kvstore.Record, error) {
	if s.oneKey.Load() {
		return s.Get(ctx, k)
	}
	answer, err := s.run(ctx, false, follow, []string{s.key(k)}, s.key(kvstore.Key{Kind: kvstore.KindUser})).Slice()
	if err != nil {
		if isOneKey(err) {
			s.oneKey.Store(true)
			return s.Get(ctx, k)
		}
		return nil, fault("follow", err)
	}
	return followed(k, answer)
}

// followed returns the records in an answer of the script follow to the key k. The
// answer has the text of the first record, then the name of its user and the text of the
// user, as far as they exist.
func followed(k kvstore.Key, answer []any) ([]kvstore.Record, error) {
	var records []kvstore.Record
	for i := 0; i < len(answer); i += 2 {
		text, ok := answer[i].(string)
		if !ok {
			break
		}
		r, err := record(k, []byte(text))
		if err != nil {
			return nil, err
		}
		records = append(records, r)
		if i+1 < len(answer) {
			name, _ := answer[i+1].(string)
			k = kvstore.Key{Kind: kvstore.KindUser, Name: name}
		}
	}
	return records, nil
}

// oneKeyTexts are in the answers of servers that refuse a script because it reads
// a key that was not named before. Such servers are nodes of a cluster, which a
// proxy or a single address may hide, Dragonfly, and the proxies of Alibaba and
// Tencent.
var oneKeyTexts = []string{"non local key", "undeclared key", "KEYS array"}

// isOneKey reports whether a server refused a script because it reads a key that
// was not named.
func isOneKey(err error) bool {
	return slices.ContainsFunc(oneKeyTexts, func(text string) bool { return strings.Contains(err.Error(), text) })
}
