package cache

import (
	"sync"
	"testing"
)

// TestCache: R-581, a cache never has more than its room.
func TestCache(t *testing.T) {
	t.Run("the first value stays", func(t *testing.T) {
		c := New[string, int](Rules{Size: 2})
		if _, ok := c.Get("a"); ok {
			t.Error("something is found in nothing")
		}
		if c.GetOrAdd("a", 1) != 1 || c.GetOrAdd("a", 2) != 1 {
			t.Error("replaced")
		}
		c.Delete("a")
		c.Delete("a")
		if _, ok := c.Get("a"); ok {
			t.Error("not forgotten")
		}
	})
	t.Run("what is asked for stays, what is not goes", func(t *testing.T) {
		c := New[int, int](Rules{Size: 3})
		c.GetOrAdd(-1, -1)
		for i := range 100 {
			if _, ok := c.Get(-1); !ok {
				t.Fatalf("gone after %d", i)
			}
			c.GetOrAdd(i, i)
			if len(c.entries) > 3 || c.order.length != len(c.entries) {
				t.Fatalf("%d values", len(c.entries))
			}
		}
	})
	t.Run("the hand does not rest on what is forgotten", func(t *testing.T) {
		c := New[int, int](Rules{Size: 3})
		for i := range 3 {
			c.GetOrAdd(i, i)
			c.Get(i)
		}
		c.GetOrAdd(3, 3) // leaves the hand somewhere
		for i := range 4 {
			c.Delete(i)
		}
		for i := range 9 {
			c.GetOrAdd(i, i)
		}
		if len(c.entries) != 3 || c.order.length != 3 {
			t.Errorf("%d values, %d in the list", len(c.entries), c.order.length)
		}
	})
	t.Run("no room is room for one", func(t *testing.T) {
		c := New[int, int](Rules{Size: -1})
		c.GetOrAdd(1, 1)
		c.GetOrAdd(2, 2)
		if _, ok := c.Get(2); !ok || len(c.entries) != 1 {
			t.Errorf("%d values", len(c.entries))
		}
	})
	t.Run("many at once", func(t *testing.T) {
		c := New[int, int](Rules{Size: 5})
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 500 {
					c.GetOrAdd(i+j%7, j)
					c.Get(j % 7)
					c.Delete(j % 5)
				}
			})
		}
		wg.Wait()
		if len(c.entries) > 5 {
			t.Errorf("%d values", len(c.entries))
		}
	})
}
