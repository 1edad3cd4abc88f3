package latchkey

import (
	"context"
	"errors"
	"runtime/debug"
	"time"
)

// Code of the application's runs contained: its panic is an error, and where
// nobody needs its answer its time is bounded.

// panicked turns a panic into an error. It keeps the stack for the log.
func panicked(p any) error { return &panicError{p, debug.Stack()} }

type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return "panic in a callback, adapter or handler" }

// contain runs code of the application's so that its panic is an error.
func contain(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return f()
}

// containResult is contain for functions with a result.
func containResult[T any](f func() (T, error)) (result T, err error) {
	err = contain(func() (err error) { result, err = f(); return err })
	return result, err
}

// errTooSlow: a function of the application's did not come back in time, and was
// left behind.
type errTooSlow struct {
	name  string
	limit time.Duration
}

func (e *errTooSlow) Error() string { return e.name + " did not return within " + e.limit.String() }

// timed runs f in a goroutine of its own, so that neither a panic nor
// runtime.Goexit ends more than this one call, and waits for it no longer than
// limit, or than ctx lives.
func timed[T any](ctx context.Context, limit time.Duration, name string, f func(context.Context) (T, error)) (T, error) {
	type answer struct {
		result T
		err    error
	}
	bounded := &lazyDeadline{parent: ctx, until: time.Now().Add(limit)}
	defer bounded.end()
	done := make(chan answer, 1)
	go func() {
		var a answer
		returned := false
		defer func() {
			if p := recover(); p != nil {
				a.err = panicked(p)
			} else if !returned {
				a.err = errors.New(name + " ended its goroutine")
			}
			done <- a
		}()
		a.result, a.err = f(bounded)
		returned = true
	}()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case a := <-done:
		if a.err != nil && ctx.Err() == nil && bounded.Err() != nil { // it gave up when it was told to
			a.err = &errTooSlow{name, limit}
		}
		return a.result, a.err
	case <-late.C:
	case <-ctx.Done():
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	return none, &errTooSlow{name, limit}
}

// within is timed for what has no result, whatever becomes of the request that
// ctx belongs to.
func within(ctx context.Context, limit time.Duration, name string, f func(context.Context) error) error {
	_, err := timed(context.WithoutCancel(ctx), limit, name, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) })
	return err
}

// background is for work that must outlive the request that asked for it.
func background(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}
