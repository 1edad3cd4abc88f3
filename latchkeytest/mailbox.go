package latchkeytest

import (
	"context"
	"slices"
	"sync"

	"github.com/latchkeyhq/latchkey"
)

// Mailbox receives magic links instead of a mail server: its Send is for
// [latchkey.Email].Send. The zero Mailbox is empty. It may be used concurrently.
type Mailbox struct {
	mu    sync.Mutex
	links []latchkey.SignInLink
}

// Send keeps the link. It never fails.
func (m *Mailbox) Send(_ context.Context, l latchkey.SignInLink) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.links = append(m.links, l)
	return nil
}

// Links are those sent to an e-mail address so far, oldest first.
func (m *Mailbox) Links(email string) []latchkey.SignInLink {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.links), func(l latchkey.SignInLink) bool { return l.To != email })
}
