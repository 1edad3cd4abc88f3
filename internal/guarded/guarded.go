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

// Panicked returns a *Panic for the value that recover has returned. Call it in the
// deferred function that called recover, so that the stack shows where the panic began.
func Panicked(p any) error { return &Panic{Stack: debug.Stack(), value: p} }

// TooSlow reports that a function of the application did not return in time. The
// function may still be running.
type TooSlow struct {
	Name  string
	Limit time.Duration
}

// Error names the function and its limit.
func (e *TooSlow) Error() string { return e.Name + " did not return within " + e.Limit.String() }

// Contain calls f and returns its error. If f panics, Contain returns a *Panic.
func Contain(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Panicked(p)
		}
	}()
	return f()
}

// ContainResult calls f and returns its result and error. If f panics, ContainResult
// returns a zero result and a *Panic.
func ContainResult[T any](f func() (T, error)) (result T, err error) {
	err = Contain(func() (err error) { result, err = f(); return err })
	return result, err
}

// Inline calls f on the caller's goroutine, which costs a tenth of Timed. The context of
// f ends after limit. An f that ignores its context is not interrupted, and a late result
// without an error counts. A panic of f becomes a *Panic. If f fails or panics after
// limit, while ctx has not ended, the error is a *TooSlow instead. name is the
// function's, for the *TooSlow.
func Inline[T any](ctx context.Context, limit time.Duration, name string, f func(context.Context) (T, error)) (T, error) {
	bounded := &deadline{parent: ctx, until: time.Now().Add(limit)}
	defer bounded.end()
	result, err := ContainResult(func() (T, error) { return f(bounded) })
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		err = &TooSlow{Name: name, Limit: limit}
	}
	return result, err
}

// Timed calls f on a goroutine of its own and waits no longer than limit, or than ctx
// lives. After limit it returns a *TooSlow with name, and if ctx ends it returns
// the error of ctx. It does not stop f then: the context of f ends, and f may go on. An f
// that fails after limit is a *TooSlow, too. If f panics the error is a *Panic, and if f
// calls runtime.Goexit an error says so.
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
			a.err = &TooSlow{Name: name, Limit: limit}
		}
		return a.result, a.err
	case <-late.C:
	case <-ctx.Done():
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	return none, &TooSlow{Name: name, Limit: limit}
}

// Within calls f on a goroutine of its own, as Timed does, and waits no longer than limit.
// f gets the values of ctx, but the end of ctx ends neither the context of f nor the wait.
// The error is a *TooSlow with name, a *Panic, or that of f.
func Within(ctx context.Context, limit time.Duration, name string, f func(context.Context) error) error {
	_, err := Timed(context.WithoutCancel(ctx), limit, name, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) })
	return err
}

// Background returns a context for work that must outlive its request. It has the values
// of ctx, does not end with ctx, and ends after limit.
func Background(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}
