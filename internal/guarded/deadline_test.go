package guarded

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

type deadlineKey struct{}

func TestDeadlineIsTheContextOfWithDeadline(t *testing.T) {
	const limit = time.Minute
	for name, check := range map[string]func(t *testing.T, c *deadline, stop context.CancelFunc){
		"it ends at its time": func(t *testing.T, c *deadline, _ context.CancelFunc) {
			<-c.Done()
			if !errors.Is(c.Err(), context.DeadlineExceeded) {
				t.Error(c.Err())
			}
		},
		"nobody has waited when its time is over": func(t *testing.T, c *deadline, _ context.CancelFunc) {
			time.Sleep(2 * limit)
			if !errors.Is(c.Err(), context.DeadlineExceeded) {
				t.Error(c.Err())
			}
		},
		"it ends with its parent": func(t *testing.T, c *deadline, stop context.CancelFunc) {
			stop()
			<-c.Done()
			if !errors.Is(c.Err(), context.Canceled) {
				t.Error(c.Err())
			}
		},
		"who waits is told of the end": func(t *testing.T, c *deadline, _ context.CancelFunc) {
			done := c.Done()
			c.end()
			<-done
			if !errors.Is(c.Err(), context.Canceled) {
				t.Error(c.Err())
			}
		},
		"who waits later finds it ended": func(t *testing.T, c *deadline, _ context.CancelFunc) {
			c.end()
			<-c.Done()
		},
		"a context made of it ends with it": func(t *testing.T, c *deadline, _ context.CancelFunc) {
			child, cancel := context.WithCancel(c)
			defer cancel()
			c.end()
			<-child.Done()
		},
		"it has the values of its parent, before and after": func(t *testing.T, c *deadline, _ context.CancelFunc) {
			before := c.Value(deadlineKey{})
			_ = c.Done()
			if after := c.Value(deadlineKey{}); before != "kept" || after != "kept" {
				t.Error(before, after)
			}
		},
		"it says when it ends": func(t *testing.T, c *deadline, _ context.CancelFunc) {
			if until, ok := c.Deadline(); !ok || !until.Equal(c.until) {
				t.Error(until, ok)
			}
		},
		"a parent may end sooner": func(t *testing.T, c *deadline, _ context.CancelFunc) {
			sooner, cancel := context.WithTimeout(c.parent, time.Second)
			defer cancel()
			c.parent = sooner
			want, _ := sooner.Deadline()
			if until, _ := c.Deadline(); !until.Equal(want) {
				t.Error(until, want)
			}
			<-c.Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parent, stop := context.WithCancel(context.WithValue(t.Context(), deadlineKey{}, "kept"))
				defer stop()
				c := &deadline{parent: parent, until: time.Now().Add(limit)}
				defer c.end()
				check(t, c, stop)
			})
		})
	}
}
