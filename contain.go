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

// errTooSlow: a handler did not come back in time and was left behind.
var errTooSlow = errors.New("the handler did not return in time")

// within runs f and waits for it no longer than limit, whatever becomes of the
// request that ctx belongs to.
func within(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	ctx, cancel := background(ctx, limit)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- contain(func() error { return f(ctx) }) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return errTooSlow
	}
}

// background is for work that must outlive the request that asked for it.
func background(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}
