package latchkeytest

import (
	"context"
	"slices"
	"sync"

	"github.com/latchkeyhq/latchkey"
)

// Mailbox receives mails instead of a mail server: its Send is for
// [latchkey.Email].Send. The zero Mailbox is empty. It may be used concurrently.
type Mailbox struct {
	mu       sync.Mutex
	messages []latchkey.Message
}

// Send keeps the message. It never fails.
func (m *Mailbox) Send(_ context.Context, message latchkey.Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.messages = append(m.messages, message)
	return nil
}

// Messages returns those sent to an e-mail address so far, oldest first.
func (m *Mailbox) Messages(email string) []latchkey.Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.messages), func(message latchkey.Message) bool { return message.To != email })
}
