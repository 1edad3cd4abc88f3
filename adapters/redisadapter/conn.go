package redisadapter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// conn keeps records in Redis, each in a key of its own.
type conn struct {
	client   redis.UniversalClient
	prefix   string
	replicas int
	timely   bool // the client itself ends what outlives its context
}

// kindList is the kind of key that lists what a user owns.
const kindList kvstore.Kind = "b"

// key returns the key of a record in Redis.
func (c *conn) key(k kvstore.Key) string { return c.prefix + string(k.Kind) + ":" + k.Name }

// Get implements [kvstore.Conn]. It asks for several keys in one pipeline: in a cluster
// one command cannot have keys of different slots.
func (c *conn) Get(ctx context.Context, keys ...kvstore.Key) ([]kvstore.Record, error) {
	if len(keys) == 1 {
		text, err := bounded(ctx, c, func() ([]byte, error) { return c.client.Get(ctx, c.key(keys[0])).Bytes() })
		return found(nil, keys[0], text, err)
	}
	answers, err := bounded(ctx, c, func() ([]redis.Cmder, error) {
		return c.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, k := range keys {
				p.Get(ctx, c.key(k))
			}
			return nil
		})
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, fault("GET", err)
	}
	var records []kvstore.Record
	for i, a := range answers {
		text, err := a.(*redis.StringCmd).Bytes()
		if records, err = found(records, keys[i], text, err); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// found appends the record in an answer to GET: text or err. It appends nothing if err
// says that the key has no value. It returns an error for any other err, and for a text
// that is no record.
func found(records []kvstore.Record, k kvstore.Key, text []byte, err error) ([]kvstore.Record, error) {
	if errors.Is(err, redis.Nil) {
		return records, nil
	}
	if err != nil {
		return nil, fault("GET", err)
	}
	r, err := record(k, text)
	return append(records, r), err
}

// record splits the text of a key into version and value. It returns an error for
// a text that this package did not write.
func record(k kvstore.Key, text []byte) (kvstore.Record, error) {
	version, value, ok := bytes.Cut(text, []byte("\n"))
	if !ok {
		return kvstore.Record{}, fmt.Errorf("redisadapter: a key of kind %q holds what was not written by this package", k.Kind)
	}
	return kvstore.Record{Key: k, Version: string(version), Value: value}, nil
}

// Put implements [kvstore.Conn]. It waits for replicas, as [Options].Replicas says, if r
// is a mark, a revocation or a used value. If the server has no memory for a mark, it
// deletes the record instead.
func (c *conn) Put(ctx context.Context, r kvstore.Record, over string) error {
	text := make([]byte, 0, len(r.Version)+1+len(r.Value))
	text = append(append(append(text, r.Version...), '\n'), r.Value...)
	void := 0
	if r.IsVoid() {
		void = 1
	}
	isEnd := void == 1 || r.Kind == kvstore.KindRevocation || r.Kind == kvstore.KindUsed
	written, err := c.run(ctx, isEnd, put, []string{c.key(r.Key)}, r.Version, over, text, life(r.Until), void).Int()
	switch {
	case err != nil:
		return fault("put", err)
	case written == 0:
		return storage.ErrConflict
	}
	return nil
}

// life returns how long a key lives that may go at the given time, in milliseconds, and
// 0 for ever if the time is zero. It returns a minute at least: Redis has a clock of its
// own, and removes at once what ends in the past.
func life(until time.Time) int64 {
	if until.IsZero() {
		return 0
	}
	return max(time.Until(until), time.Minute).Milliseconds()
}

// Delete implements [kvstore.Conn]. It waits for replicas, as [Options].Replicas says.
func (c *conn) Delete(ctx context.Context, k kvstore.Key, version string) (kvstore.Record, error) {
	again := "0"
	if c.replicas > 0 {
		again = "1"
	}
	was, err := c.run(ctx, true, remove, []string{c.key(k)}, version, again).Result()
	if errors.Is(err, redis.Nil) {
		return kvstore.Record{}, storage.ErrNotFound
	}
	if err != nil {
		return kvstore.Record{}, fault("delete", err)
	}
	text, ok := was.(string)
	if !ok {
		return kvstore.Record{}, storage.ErrConflict
	}
	return record(k, []byte(text))
}

// Own implements [kvstore.Conn]. Entries are the fields of a hash: as long as it is
// small, it needs a third of the room of a set. In Redis 7.0 fields have no expiry of
// their own, so the value of each is the time at which it may go. Own also removes some
// expired entries. An entry that is to be kept longer already stays as it is.
func (c *conn) Own(ctx context.Context, user string, k kvstore.Key, until time.Time) error {
	return fault("own", c.run(ctx, false, own, []string{c.listOf(user)}, fieldOf(k), life(until)).Err())
}

// fieldOf returns the field of a user's list for an entry.
func fieldOf(entry kvstore.Key) string { return string(entry.Kind) + ":" + entry.Name }

// Disown implements [kvstore.Conn].
func (c *conn) Disown(ctx context.Context, user string, k kvstore.Key) error {
	_, err := bounded(ctx, c, func() (int64, error) {
		return c.client.HDel(ctx, c.listOf(user), fieldOf(k)).Result()
	})
	return fault("HDEL", err)
}

// Owned implements [kvstore.Conn]. It removes expired entries, and ignores errors of
// that.
func (c *conn) Owned(ctx context.Context, user string) ([]kvstore.Key, error) {
	fields, err := bounded(ctx, c, func() (map[string]string, error) { return c.client.HGetAll(ctx, c.listOf(user)).Result() })
	if err != nil {
		return nil, fault("HGETALL", err)
	}
	keys := make([]kvstore.Key, 0, len(fields))
	var expired []string
	now := time.Now().Unix()
	for f, until := range fields {
		if at, err := strconv.ParseInt(until, 10, 64); err == nil && at < now {
			expired = append(expired, f)
		} else if kind, name, ok := strings.Cut(f, ":"); ok {
			keys = append(keys, kvstore.Key{Kind: kvstore.Kind(kind), Name: name})
		}
	}
	c.forget(ctx, user, expired)
	return keys, nil
}

// mostForgotten is how many entries one command removes: other commands wait while it
// runs.
const mostForgotten = 1000

// forget removes entries of a user's list that have expired. It ignores errors: an entry
// that stays does no harm.
func (c *conn) forget(ctx context.Context, user string, fields []string) {
	for some := range slices.Chunk(fields, mostForgotten) {
		_, err := bounded(ctx, c, func() (int64, error) { return c.client.HDel(ctx, c.listOf(user), some...).Result() })
		if err != nil {
			return
		}
	}
}

// listOf returns the key of the hash that lists what a user owns.
func (c *conn) listOf(user string) string {
	return c.key(kvstore.Key{Kind: kindList, Name: user})
}

// fault returns an error that names the operation that failed. It returns nil and errors
// of a context as they are. If the error passes by itself, the result is also a
// [storage.ErrUnavailable]. The texts of Redis and of its client hold no values, except
// the arguments of a command that Redis does not know.
func fault(what string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if isTemporary(err) {
		return &temporaryError{fmt.Errorf("redisadapter: %s: %w", what, err)}
	}
	return fmt.Errorf("redisadapter: %s: %w", what, err)
}

// temporaryError is the error of a server that recovers by itself.
type temporaryError struct{ error }

func (p *temporaryError) Unwrap() error        { return p.error }
func (p *temporaryError) Is(target error) bool { return target == storage.ErrUnavailable }

// isTemporary reports whether err is one from which the server or the pool recovers by
// itself.
func isTemporary(err error) bool {
	for _, is := range []func(error) bool{
		redis.IsLoadingError, redis.IsReadOnlyError, redis.IsClusterDownError, redis.IsTryAgainError, redis.IsMasterDownError,
		redis.IsMaxClientsError, redis.IsNoReplicasError,
	} {
		if is(err) {
			return true
		}
	}
	return errors.Is(err, redis.ErrPoolTimeout)
}
