package latchkey

import "time"

// Message is a mail to be delivered to one mailbox. A Send that words mails
// itself looks at Kind, and refuses kinds that it does not know: releases add
// some.
type Message struct {
	hidden

	Kind     MessageKind
	To       string // exactly one mailbox, its domain in ASCII
	From     string
	URL      string
	Token    string // the secret inside URL
	Expires  time.Time
	Provider string // id
	Theme    Theme
	Language string // of the browser that asked for the link, one of Texts.Languages; empty: English
	Texts    Texts
	Request  *Request
}

// MessageKind says what a [Message] is for. The list is closed, and grows with
// releases.
type MessageKind string

// The kinds of [Message].
const (
	MessageSignIn MessageKind = "sign_in" // its URL signs the user in
)
