package kvstore

import "sync"

const (
	// fewItems are done one after another: two or three sessions are not worth it.
	fewItems = 8
	// atOnce leaves room in the pool of a client for other calls.
	atOnce = 16
)

// parallel calls f for each item: one after another for up to 8 items, and otherwise up
// to 16 at the same time, since a user may have thousands of sessions. After an error it
// begins no further items. It waits for those that were begun, and returns the first
// error. A panic of f is repeated in the caller.
func parallel[T any](items []T, f func(T) error) error {
	if len(items) <= fewItems {
		for _, item := range items {
			if err := f(item); err != nil {
				return err
			}
		}
		return nil
	}
	q := queue[T]{items: items, do: f}
	var workers sync.WaitGroup
	for range min(atOnce, len(items)) {
		workers.Go(q.work)
	}
	workers.Wait()
	if q.panicked {
		panic(q.panic) // where the caller of the store can recover it
	}
	return q.err
}

// queue holds the items that several workers share.
type queue[T any] struct {
	do func(T) error

	mu       sync.Mutex
	items    []T // not begun yet
	err      error
	panicked bool
	panic    any
}

// work does items until none are left. It stops the queue if an item fails or panics,
// and stores the error or the panic in the queue.
func (q *queue[T]) work() {
	defer func() {
		if p := recover(); p != nil {
			q.stop(nil)
			q.mu.Lock()
			defer q.mu.Unlock()
			q.panicked, q.panic = true, p
		}
	}()
	for item, more := q.next(); more; item, more = q.next() {
		if err := q.do(item); err != nil {
			q.stop(err)
		}
	}
}

// next takes an item from the queue. more is false if there is none.
func (q *queue[T]) next() (item T, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return item, false
	}
	item, q.items = q.items[0], q.items[1:]
	return item, true
}

// stop empties the queue, so that no item is begun any more. It stores err unless an
// error is stored already. err is nil for a panic.
func (q *queue[T]) stop(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = nil
	if q.err == nil {
		q.err = err
	}
}
