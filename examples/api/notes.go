package main

import (
	"slices"
	"sync"
)

// notebook keeps everybody's notes by user id.
type notebook struct {
	mu sync.Mutex
	by map[string][]string
}

func newNotebook() *notebook { return &notebook{by: map[string][]string{}} }

func (n *notebook) of(user string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string{}, n.by[user]...)
}

func (n *notebook) add(user, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.by[user] = append(slices.Clip(n.by[user]), text)
}
