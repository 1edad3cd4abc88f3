package kvstore

import (
	"errors"
	"sync"

	"github.com/latchkeyhq/latchkey"
)

const (
	// fewItems are done one after another: two or three sessions are not worth it.
	fewItems = 8
	// atOnce leaves room in the pool of a client for everybody else.
	atOnce = 16
)

// together calls f for each item, and for some at once if they are many, since
// somebody may have thousands of sessions. It begins no more after one that has
// failed, and returns its error.
func together[T any](items []T, f func(T) error) error {
	if len(items) <= fewItems {
		for _, item := range items {
			if err := f(item); err != nil {
				return err
			}
		}
		return nil
	}
	w := work[T]{items: items, do: f}
	var workers sync.WaitGroup
	for range min(atOnce, len(items)) {
		workers.Go(w.work)
	}
	workers.Wait()
	if w.panicked {
		panic(w.panic) // where the caller of the store can recover it
	}
	return w.err
}

// work is a list of items that several are working on.
type work[T any] struct {
	do func(T) error

	mu       sync.Mutex
	items    []T // that nobody has begun
	err      error
	panicked bool
	panic    any
}

func (w *work[T]) work() {
	defer func() {
		if p := recover(); p != nil {
			w.stop(nil)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.panicked, w.panic = true, p
		}
	}()
	for item, more := w.next(); more; item, more = w.next() {
		if err := w.do(item); err != nil {
			w.stop(err)
		}
	}
}

func (w *work[T]) next() (item T, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.items) == 0 {
		return item, false
	}
	item, w.items = w.items[0], w.items[1:]
	return item, true
}

// stop keeps the first error.
func (w *work[T]) stop(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.items = nil
	if w.err == nil {
		w.err = err
	}
}

// orAbsent is nil for what is not there.
func orAbsent(err error) error {
	if errors.Is(err, latchkey.ErrNotFound) {
		return nil
	}
	return err
}
