package sieve

import (
	"sync"
	"testing"
)

func TestCache(t *testing.T) {
	t.Run("the first value stays", func(t *testing.T) {
		c := New[string, int](2)
		if _, ok := c.Get("a"); ok {
			t.Error("something is found in nothing")
		}
		if c.GetOrAdd("a", 1) != 1 || c.GetOrAdd("a", 2) != 1 {
			t.Error("replaced")
		}
		c.Forget("a")
		c.Forget("a")
		if _, ok := c.Get("a"); ok {
			t.Error("not forgotten")
		}
	})
	t.Run("what is asked for stays, what is not goes", func(t *testing.T) {
		c := New[int, int](3)
		c.GetOrAdd(-1, -1)
		for i := range 100 {
			if _, ok := c.Get(-1); !ok {
				t.Fatalf("gone after %d", i)
			}
			c.GetOrAdd(i, i)
			if len(c.byKey) > 3 || c.newest.Len() != len(c.byKey) {
				t.Fatalf("%d values", len(c.byKey))
			}
		}
	})
	t.Run("the hand does not rest on what is forgotten", func(t *testing.T) {
		c := New[int, int](3)
		for i := range 3 {
			c.GetOrAdd(i, i)
			c.Get(i)
		}
		c.GetOrAdd(3, 3) // leaves the hand somewhere
		for i := range 4 {
			c.Forget(i)
		}
		for i := range 9 {
			c.GetOrAdd(i, i)
		}
		if len(c.byKey) != 3 || c.newest.Len() != 3 {
			t.Errorf("%d values, %d in the list", len(c.byKey), c.newest.Len())
		}
	})
	t.Run("no room is room for one", func(t *testing.T) {
		c := New[int, int](-1)
		c.GetOrAdd(1, 1)
		c.GetOrAdd(2, 2)
		if _, ok := c.Get(2); !ok || len(c.byKey) != 1 {
			t.Errorf("%d values", len(c.byKey))
		}
	})
	t.Run("many at once", func(t *testing.T) {
		c := New[int, int](5)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 500 {
					c.GetOrAdd(i+j%7, j)
					c.Get(j % 7)
					c.Forget(j % 5)
				}
			})
		}
		wg.Wait()
		if len(c.byKey) > 5 {
			t.Errorf("%d values", len(c.byKey))
		}
	})
}
