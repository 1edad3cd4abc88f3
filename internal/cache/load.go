package cache

import (
	"context"
	"errors"

	"golang.org/x/sync/singleflight"
)

// Loader returns the value of a key and its owner. An empty owner means none.
type Loader[V any] func(context.Context) (value V, owner string, err error)

// flight is a load under way, which all callers of its key share.
type flight struct {
	group   singleflight.Group // has one call, under the key ""
	deleted bool               // the value is not kept
}

// outcome is the result of a flight.
type outcome[V any] struct {
	value     V
	owner     string
	err       error
	panicked  any  // what load panicked with; nil: it returned
	abandoned bool // load panicked, or failed because its caller was cancelled: other callers load anew
}

// Load returns the value of key. If there is none, or it has expired, Load calls load and
// keeps the value that load returns. Concurrent callers of one key share one load. An
// error of load is returned to all of them and not kept.
//
// A caller that waits for another caller's load returns the error of ctx when ctx ends.
// If the other caller is cancelled, or its load panics, a waiting caller loads in its
// place. A panic of load is passed on to the caller that began it. Passing load
// allocates; a caller that must not allocate calls Get first.
func (c *Cache[K, V]) Load(ctx context.Context, key K, load Loader[V]) (V, error) {
	if value, ok := c.Get(key); ok {
		return value, nil
	}
	return c.share(ctx, key, load, false)
}

// Refresh loads the value of key anew, whether or not there is one. Apart from that it
// works as Load. If a load of key is under way, Refresh waits for that one,
// although it began before the call. Get and Load return the old value until the load has
// succeeded, and after it has failed.
func (c *Cache[K, V]) Refresh(ctx context.Context, key K, load Loader[V]) (V, error) {
	return c.share(ctx, key, load, true)
}

// share loads the value of key, or joins the load under way, as Load documents it. It
// returns a value that is in the cache already unless refresh is set.
func (c *Cache[K, V]) share(ctx context.Context, key K, load Loader[V], refresh bool) (V, error) {
	for {
		value, result, first := c.join(ctx, key, load, refresh)
		if result == nil {
			return value, nil
		}
		done := ctx.Done()
		if first && !c.rules.Detached {
			done = nil // the load ends with ctx, and says how
		}
		select {
		case <-done:
			return value, ctx.Err()
		case r := <-result:
			o := r.Val.(*outcome[V])
			if first && o.panicked != nil {
				panic(o.panicked)
			}
			if first || !o.abandoned {
				return o.value, o.err
			}
		}
	}
}

// join returns the value of key and a nil channel if there is a value and refresh is
// false. Otherwise it joins the flight of key, or begins one, and returns the channel on
// which the flight delivers its *outcome[V]. first reports whether this call has begun
// the flight.
func (c *Cache[K, V]) join(ctx context.Context, key K, load Loader[V], refresh bool) (value V, result <-chan singleflight.Result, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !refresh {
		if found, ok := c.find(key); ok {
			return found, nil, false
		}
	}
	f := c.flights[key]
	first = f == nil
	if first {
		f = &flight{}
		c.flights[key] = f
	}
	// fly takes the flight out of c.flights before its call ends. So DoChan joins the call of
	// a flight that was there, and never begins a second one.
	result = f.group.DoChan("", func() (any, error) { return c.fly(ctx, key, f, load), nil })
	return value, result, first
}

// fly calls load and ends the flight f of key. It keeps the value unless load failed or
// panicked, or the key was deleted meanwhile. It returns the outcome for all callers of the
// flight.
func (c *Cache[K, V]) fly(ctx context.Context, key K, f *flight, load Loader[V]) *outcome[V] {
	if c.rules.Detached {
		ctx = context.WithoutCancel(ctx)
	}
	expires := c.expiry()
	o := call(ctx, load)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flights[key] == f {
		delete(c.flights, key)
	}
	if o.err == nil && o.panicked == nil && !f.deleted {
		c.put(&entry[K, V]{key: key, value: o.value, owner: o.owner, expires: expires})
	}
	return o
}

// call calls load and returns its outcome. It recovers a panic of load, which would end
// the process on this goroutine, and returns the panic in the outcome. The outcome is
// abandoned if load panicked, failed after ctx had ended, or failed by [context.Canceled].
func call[V any](ctx context.Context, load Loader[V]) (o *outcome[V]) {
	o = &outcome[V]{abandoned: true}
	defer func() { o.panicked = recover() }()
	o.value, o.owner, o.err = load(ctx)
	o.abandoned = o.err != nil && (ctx.Err() != nil || errors.Is(o.err, context.Canceled))
	return o
}

// disown makes the flight of key, if there is one, keep no value and take no more
// callers. Callers that wait for the flight already get its value. The caller holds the
// lock.
func (c *Cache[K, V]) disown(key K) {
	if f, ok := c.flights[key]; ok {
		f.deleted = true
		delete(c.flights, key)
	}
}
