package redisadapter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// longestWait is how long a call waits for replicas where its context allows
// more. It is shorter than clients wait for answers.
const longestWait = time.Second

// attempts is how many times a write is tried in all if a cluster has moved the slot to
// another node meanwhile.
const attempts = 3

// run runs a script by its hash, and sends the whole script to a server that does not
// know it. If isEnd is true, run waits for as many replicas as [Options].Replicas says,
// and fails if fewer have the write, although the server has done it. The error is in
// the result, which is never nil.
func (c *conn) run(ctx context.Context, isEnd bool, s *redis.Script, keys []string, args ...any) *redis.Cmd {
	cmd, err := bounded(ctx, c, func() (*redis.Cmd, error) {
		if isEnd && c.replicas > 0 {
			return c.runReplicated(ctx, s, keys, args)
		}
		return s.Run(ctx, c.client, keys, args...), nil
	})
	if err != nil {
		cmd = redis.NewCmd(ctx)
		cmd.SetErr(err)
	}
	return cmd
}

// runReplicated runs a script and waits until c.replicas replicas have what it has
// written. An error of the script is in the result; any other error is returned. WAIT is
// about the writes of its own connection, so the script, as a whole, and WAIT go to one
// node in one pipeline.
func (c *conn) runReplicated(ctx context.Context, s *redis.Script, keys []string, args []any) (*redis.Cmd, error) {
	for attempt := 1; ; attempt++ {
		node, err := c.primary(ctx, keys[0])
		if err != nil {
			return nil, err
		}
		p := node.Pipeline()
		cmd := s.Eval(ctx, p, keys, args...)
		reached := p.Do(ctx, "WAIT", c.replicas, waitFor(ctx).Milliseconds())
		_, _ = p.Exec(ctx) // cmd and reached have its errors
		if _, moved := redis.IsMovedError(cmd.Err()); moved && attempt < attempts {
			c.client.(*redis.ClusterClient).ReloadState(ctx)
			continue
		}
		return cmd, c.judge(cmd, reached)
	}
}

// judge returns an error if WAIT failed, or if fewer than c.replicas replicas have what
// the script has written. cmd is the answer to the script, and reached the answer to
// WAIT. If the script failed, judge returns nil: the caller finds that error in cmd.
func (c *conn) judge(cmd *redis.Cmd, reached *redis.Cmd) error {
	if err := cmd.Err(); err != nil && !errors.Is(err, redis.Nil) {
		return nil // the caller finds it in cmd
	}
	n, err := reached.Int()
	if err != nil {
		return err
	}
	if n < c.replicas {
		return fmt.Errorf("written, but %d of %d replicas have it: a switch to one of the others would undo it", n, c.replicas)
	}
	return nil
}

// primary returns the server that a key is written to.
func (c *conn) primary(ctx context.Context, key string) (*redis.Client, error) {
	if cluster, ok := c.client.(*redis.ClusterClient); ok {
		return cluster.MasterForKey(ctx, key)
	}
	return c.client.(*redis.Client), nil // New has looked
}

// waitFor returns how long to wait for replicas: longestWait, or until the deadline of
// ctx if that is sooner, and a millisecond at least.
func waitFor(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return max(min(longestWait, time.Until(deadline)), time.Millisecond) // 0 would wait for ever
	}
	return longestWait
}

// bounded calls f and returns its results, or the error of ctx as soon as ctx ends. f
// may then still run, in a goroutine. If the client has ContextTimeoutEnabled, f ends
// with its context by itself, and bounded needs no goroutine. Any other client waits as
// long as its own timeouts say, several times over.
func bounded[T any](ctx context.Context, c *conn, f func() (T, error)) (T, error) {
	if err := ctx.Err(); err != nil || c.timely {
		var none T
		if err != nil {
			return none, err
		}
		return f()
	}
	type answer struct {
		result T
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		result, err := f()
		answered <- answer{result, err}
	}()
	select {
	case a := <-answered:
		return a.result, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
