package mailtext

import (
	"strconv"

	"github.com/latchkeyhq/latchkey"
)

// shape says which texts a kind of mail has, by their keys. An empty key is no text.
type shape struct {
	subject string
	text    string // between the subject and the button
	action  string // on the button; empty: there is no link
	other   string // of the link to Message.OtherURL; empty: no such link
	foot    string
	once    bool // the link works once, until Expires
}

const (
	signIn  = "mail.action"
	confirm = "mail.verify.action"
	reset   = "mail.reset.action"
	account = "mail.account"
	ignore  = "mail.ignore"
	notMe   = "mail.notme"
	lost    = "mail.lost.text"

	regain   = "mail.regain.text"
	replaced = "mail.replaced.text"
)

// shapes are the kinds of mails that there are words for.
var shapes = map[latchkey.MessageKind]shape{
	latchkey.MessageSignIn:        {subject: "mail.subject", action: signIn, foot: ignore, once: true},
	latchkey.MessageVerify:        {subject: "mail.verify.subject", action: confirm, foot: ignore, once: true},
	latchkey.MessageAccountExists: {subject: "mail.exists.subject", text: "mail.exists.text", action: signIn, other: reset, foot: ignore},
	latchkey.MessagePasswordReset: {subject: "mail.reset.subject", action: reset, foot: ignore, once: true},
	latchkey.MessageNewPassword:   {subject: "mail.reset.subject", text: "mail.renew.text", action: reset, once: true},
	latchkey.MessageNewEmail:      {subject: "mail.newemail.subject", action: confirm, foot: ignore, once: true},
	latchkey.MessageFactorCode:    {subject: "mail.factor.subject", foot: ignore},
	latchkey.MessageRecoveryReady: {subject: "mail.ready.subject", text: "mail.ready.text", action: "mail.ready.action", foot: notMe, once: true},
	latchkey.MessageInvitation:    {subject: "mail.invitation.subject", action: "mail.invitation.action", foot: "mail.invitation.ignore", once: true},

	latchkey.MessageRecoverEmail: {subject: "mail.regain.subject", text: regain, action: confirm, foot: ignore},

	latchkey.MessagePasswordChanged: {subject: "mail.password.subject", text: "mail.password.text", action: account},
	latchkey.MessageEmailChange:     {subject: "mail.change.subject", text: "mail.change.text", action: "mail.change.action", once: true},
	latchkey.MessageEmailChanged:    {subject: "mail.changed.subject", text: "mail.changed.text", action: "mail.change.action", once: true},
	latchkey.MessageEmailLost:       {subject: "mail.replaced.subject", text: replaced, action: "mail.lost.action"},
	latchkey.MessageFactorAdded:     {subject: "mail.added.subject", text: notMe, action: account},
	latchkey.MessageFactorRemoved:   {subject: "mail.removed.subject", text: notMe, action: account},
	latchkey.MessageFactorsReset:    {subject: "mail.cleared.subject", text: "mail.cleared.text", action: account},
	latchkey.MessageRecoveryUsed:    {subject: "mail.recovery.subject", text: "mail.recovery.left", action: account, foot: notMe},
	latchkey.MessageRecoveryMade:    {subject: "mail.codes.subject", text: notMe, action: account},
	latchkey.MessageWrongCodes:      {subject: "mail.wrong.subject", text: "mail.wrong.text", action: account},
	latchkey.MessageRecoveryStarted: {subject: "mail.lost.subject", text: lost, action: "mail.lost.action"},
	latchkey.MessageActedAs:         {subject: "mail.acted.subject", text: "mail.acted.text", action: account},
	latchkey.MessageRecoverySoon:    {subject: "mail.soon.subject", text: lost, action: "mail.lost.action"},
}

// lead returns the text of a mail between its subject and its button.
func (w wording) lead(s shape, m latchkey.Message) string {
	switch s.text {
	case "":
		return ""
	case lost, regain, replaced:
		return w.with(s.text, stamp(m.Expires))
	case "mail.recovery.left":
		return w.with(s.text, strconv.Itoa(m.Left))
	}
	return w.whole(s.text)
}

// above returns the line above a code, or "" if there is no code.
func (w wording) above(s shape, m latchkey.Message) string {
	switch {
	case m.Code == "":
		return ""
	case s.action == "":
		return w.whole("mail.code.only")
	}
	return w.whole("mail.code")
}

// optional returns the text of a key, or "" for an empty key.
func (w wording) optional(key string) string {
	if key == "" {
		return ""
	}
	return w.whole(key)
}

// spaced returns a code of six or more digits in two groups, as people read it, and any
// other code on one line.
func spaced(code string) string {
	code = oneLine(code)
	if len(code) < 6 || !isDigits(code) {
		return code
	}
	return code[:len(code)/2] + " " + code[len(code)/2:]
}

func isDigits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return true
}
