package latchkey

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
)

// Mails about second factors.

// askerFor returns the client of a request, for mails to a user.
func (s *setup) askerFor(ctx context.Context, v *visit, userID string) asker {
	return asker{
		Requester: s.requesterOf(ctx, v, func(k browser.Known) bool { return isKnownFor(ctx, s, k, userID) }),
		language:  s.languageOf(ctx, v),
	}
}

// sendCode answers POST /factor?do=send: it mails a code for the sign-in that waits.
// The answer is the same whether a mail leaves.
func sendCode(ctx context.Context, x *exchange, handle string, p *directory.Pending) (*Response, error) {
	s := x.setup
	home := x.home()
	s.mails.sendLater(ctx, s.askerFor(ctx, &x.visit, p.UserID), func(ctx context.Context) (outgoing, error) {
		u, err := s.store.User(ctx, p.UserID)
		if err != nil || u.Email == "" || u.EmailVerified.IsZero() || !slices.Contains(p.Kinds, FactorEmail) {
			return outgoing{}, err
		}
		code, expires, err := s.directory.NewMailCode(ctx, handle, p)
		return outgoing{Message: Message{Kind: MessageFactorCode, To: u.Email, URL: home, Code: code, Expires: expires}, UserID: u.ID}, err
	})
	if asksForJSON(x.request) {
		return factorJSON(p), nil
	}
	return &Response{Redirect: x.url("factor?use=email&done=send")}, nil
}

// noticeUser tells the owner of an account what has happened to its factors, if the
// site sends mails and the address is proven.
func noticeUser(ctx context.Context, x *exchange, userID string, m Message) {
	s := x.setup
	if s.mails.mail.Send == nil {
		return
	}
	if m.URL = x.home(); s.config.AccountPage.Enabled {
		m.URL = x.url("account")
	}
	s.mails.sendLater(ctx, s.askerFor(ctx, &x.visit, userID), func(ctx context.Context) (outgoing, error) {
		u, err := s.store.User(ctx, userID)
		if err != nil || u.Email == "" || u.EmailVerified.IsZero() {
			return outgoing{}, err
		}
		m.To = u.Email
		return outgoing{Message: m, UserID: u.ID}, nil
	})
}

// maskedName returns a name of which others learn little: an e-mail address keeps the
// first letter and its domain.
func maskedName(name string) string {
	local, domain, isAddress := strings.Cut(name, "@")
	if !isAddress || local == "" {
		return name
	}
	_, size := utf8.DecodeRuneInString(local)
	return local[:size] + "•••@" + domain
}
