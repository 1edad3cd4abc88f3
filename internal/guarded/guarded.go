// Package guarded calls the application's code and its stores. A panic becomes
// an error, and the time of a call is bounded.
package guarded

import (
	"context"
	"errors"
	"runtime/debug"
	"time"
)

// Panic is a recovered panic, with the stack for the log.
type Panic struct {
	Stack []byte

	value any
}

// Error returns a fixed text. The panic's value may hold a secret.
func (p *Panic) Error() string { return "panic in a callback, adapter or handler" }

// Panicked returns the error for a value that recover has returned.
func Panicked(p any) error { return &Panic{debug.Stack(), p} }

// TooSlow reports that a function of the application did not return in time. The
// function may still be running.
type TooSlow struct {
	Name  string
	Limit time.Duration
}

// Error names the function and its limit.
func (e *TooSlow) Error() string { return e.Name + " did not return within " + e.Limit.String() }

// Contain calls f. A panic of f is returned as a *Panic.
func Contain(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Panicked(p)
		}
	}()
	return f()
}

// ContainResult does what Contain does, for a function with a result.
func ContainResult[T any](f func() (T, error)) (result T, err error) {
	err = Contain(func() (err error) { result, err = f(); return err })
	return result, err
}

// Inline calls f on the caller's goroutine, which costs a tenth of Timed. Its context
// ends after limit; an f that ignores it is not interrupted. An error of f after limit
// becomes a *TooSlow, and a panic a *Panic.
func Inline[T any](ctx context.Context, limit time.Duration, name string, f func(context.Context) (T, error)) (T, error) {
	bounded := &deadline{parent: ctx, until: time.Now().Add(limit)}
	defer bounded.end()
	result, err := ContainResult(func() (T, error) { return f(bounded) })
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		err = &TooSlow{name, limit}
	}
	return result, err
}

// Timed calls f on a goroutine of its own and waits no longer than limit, or than ctx
// lives. It returns a *TooSlow after limit, and the error of ctx if that ends.
// Neither a panic, which becomes a *Panic, nor runtime.Goexit ends more than this call.
func Timed[T any](ctx context.Context, limit time.Duration, name string, f func(context.Context) (T, error)) (T, error) {
	type answer struct {
		result T
		err    error
	}
	bounded := &deadline{parent: ctx, until: time.Now().Add(limit)}
	defer bounded.end()
	done := make(chan answer, 1)
	go func() {
		var a answer
		returned := false
		defer func() {
			if p := recover(); p != nil {
				a.err = Panicked(p)
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
			a.err = &TooSlow{name, limit}
		}
		return a.result, a.err
	case <-late.C:
	case <-ctx.Done():
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	return none, &TooSlow{name, limit}
}

// Within does what Timed does, for a function without a result. The end of ctx does not
// end the call.
func Within(ctx context.Context, limit time.Duration, name string, f func(context.Context) error) error {
	_, err := Timed(context.WithoutCancel(ctx), limit, name, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) })
	return err
}

// Background returns a context for work that must outlive its request. It ends
// after limit.
func Background(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}
