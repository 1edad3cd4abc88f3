package natsadapter

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
)

// listing is how long the names of all records of a kind may take. The client asks for
// 100,000 of them at a time.
const listing = time.Minute

// Walk implements [kvstore.WalkConn]. It asks the leader for the names of all records of
// the kind at once, and holds them in memory.
func (c *conn) Walk(ctx context.Context, kind kvstore.Kind, f func([]kvstore.Record) error) error {
	begin := c.subject(kvstore.Key{Kind: kind})
	long, cancel := context.WithTimeout(ctx, listing)
	defer cancel()
	var info *jetstream.StreamInfo
	err := retry(long, func(context.Context) (err error) {
		info, err = c.lists.Info(long, jetstream.WithSubjectFilter(begin+">"))
		return err
	})
	if err != nil {
		return failure(err)
	}
	keys := make([]kvstore.Key, 0, len(info.State.Subjects))
	for subject := range info.State.Subjects {
		keys = append(keys, kvstore.Key{Kind: kind, Name: strings.TrimPrefix(subject, begin)})
	}
	for some := range slices.Chunk(keys, mostAtOnce) {
		page, err := c.getMany(ctx, some)
		if err == nil {
			err = f(page)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
