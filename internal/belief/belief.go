// Package belief remembers for a short while what a slower source has said.
package belief

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"
)

// Name is what a belief is about: a hash, so that no secret is kept.
type Name [32]byte

// Cache believes what was loaded for at most its age, counted from before it was
// asked for. It keeps what was found and nothing else, no error and no absence;
// it loads one name once at a time; and what was loaded before a drop is not
// believed after it. It is safe for concurrent use.
type Cache[V any] struct {
	age  time.Duration
	most int
	now  func() time.Time

	mu     sync.Mutex
	kept   map[Name]*list.Element // of *held[V]
	latest list.List              // the least recently used at the back
	owned  map[string]map[Name]bool
	loads  map[Name]*load[V]
}

type held[V any] struct {
	name  Name
	owner string
	value V
	until time.Time
}

// load is under way.
type load[V any] struct {
	done    chan struct{}
	value   V
	err     error
	gaveUp  bool // whoever loads has gone, which says nothing to those who wait
	dropped bool // what it brings is not to be kept
}

// New returns an empty cache of at most so many values.
func New[V any](age time.Duration, most int, now func() time.Time) *Cache[V] {
	return &Cache[V]{age: age, most: most, now: now, kept: map[Name]*list.Element{}, owned: map[string]map[Name]bool{}, loads: map[Name]*load[V]{}}
}

// Get is what is believed, or else what ask says, which also says whose it is.
// Others who ask for the same name meanwhile wait for its answer.
func (c *Cache[V]) Get(ctx context.Context, name Name, ask func(context.Context) (V, string, error)) (V, error) {
	for {
		value, under, mine := c.look(name)
		if under == nil {
			return value, nil
		}
		if mine {
			return c.load(ctx, name, under, ask)
		}
		select {
		case <-ctx.Done():
			return value, ctx.Err()
		case <-under.done:
		}
		if !under.gaveUp {
			return under.value, under.err
		}
	}
}

// look finds a value, or the load that is under way; mine: it has just begun.
func (c *Cache[V]) look(name Name) (value V, under *load[V], mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, known := c.kept[name]; known {
		h := e.Value.(*held[V])
		if c.now().Before(h.until) {
			c.latest.MoveToFront(e)
			return h.value, nil, false
		}
		c.remove(e)
	}
	under, known := c.loads[name]
	if !known {
		under = &load[V]{done: make(chan struct{})}
		c.loads[name] = under
	}
	return value, under, !known
}

func (c *Cache[V]) load(ctx context.Context, name Name, l *load[V], ask func(context.Context) (V, string, error)) (V, error) {
	until := c.now().Add(c.age)
	owner := ""
	l.gaveUp = true // the source may panic
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.loads[name] == l {
			delete(c.loads, name)
		}
		if l.err == nil && !l.gaveUp && !l.dropped {
			c.keep(&held[V]{name, owner, l.value, until})
		}
		close(l.done)
	}()
	l.value, owner, l.err = ask(ctx)
	l.gaveUp = l.err != nil && (ctx.Err() != nil || errors.Is(l.err, context.Canceled))
	return l.value, l.err
}

// keep makes room first, and lets go of what nobody has asked for since its age
// passed.
func (c *Cache[V]) keep(h *held[V]) {
	for oldest := c.latest.Back(); oldest != nil && (len(c.kept) >= c.most || !c.now().Before(oldest.Value.(*held[V]).until)); oldest = c.latest.Back() {
		c.remove(oldest)
	}
	c.kept[h.name] = c.latest.PushFront(h)
	if c.owned[h.owner] == nil {
		c.owned[h.owner] = map[Name]bool{}
	}
	c.owned[h.owner][h.name] = true
}

func (c *Cache[V]) remove(e *list.Element) {
	h := c.latest.Remove(e).(*held[V])
	delete(c.kept, h.name)
	delete(c.owned[h.owner], h.name)
	if len(c.owned[h.owner]) == 0 {
		delete(c.owned, h.owner)
	}
}

// Drop ends what is believed of a name: the next Get asks.
func (c *Cache[V]) Drop(name Name) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, known := c.kept[name]; known {
		c.remove(e)
	}
	c.disown(name)
}

// DropOwner ends what is believed of everything that is somebody's.
func (c *Cache[V]) DropOwner(owner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.owned[owner] {
		c.remove(c.kept[name])
	}
	for name := range c.loads { // whose they are is not known yet
		c.disown(name)
	}
}

// disown lets a load end for those who wait for it, and for nobody else.
func (c *Cache[V]) disown(name Name) {
	if l, known := c.loads[name]; known {
		l.dropped = true
		delete(c.loads, name)
	}
}
