package redisadapter

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// TakeLimit implements [kvstore.LimitConn].
func (c *conn) TakeLimit(ctx context.Context, k kvstore.Key, r storage.Rate) (time.Duration, error) {
	wait, err := c.run(ctx, false, take, []string{c.key(k)}, r.Events, r.Per.Microseconds()).Int64()
	return time.Duration(wait) * time.Microsecond, fault("limit", err)
}

// ReturnLimit implements [kvstore.LimitConn].
func (c *conn) ReturnLimit(ctx context.Context, k kvstore.Key, r storage.Rate) error {
	return fault("limit", c.run(ctx, false, giveBack, []string{c.key(k)}, r.Events, r.Per.Microseconds()).Err())
}

// ForgetLimit implements [kvstore.LimitConn].
func (c *conn) ForgetLimit(ctx context.Context, k kvstore.Key) error {
	_, err := bounded(ctx, c, func() (int64, error) { return c.client.Del(ctx, c.key(k)).Result() })
	return fault("DEL", err)
}
