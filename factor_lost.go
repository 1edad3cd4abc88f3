package latchkey

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/browser"
	challenges "github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/passwords"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// Users who have lost every second factor: /factor?do=lost, stop and remove. What is
// mailed to them later, and to users who have lost the mailbox.

// lostLink bounds a cookie that has no expiry: no removal of lost factors waits longer.
const lostLink = longestDelay + shortestDelay

// canLose reports whether the page of a waiting sign-in offers to remove lost factors. It
// returns false for a nil p, for a user who has no factor, and for a user that signs in
// with a passkey, who has not lost it.
func canLose(s *setup, p *directory.Pending) bool {
	return s.config.Factors.RecoveryDelay > 0 && p != nil && p.UserID != "" && len(p.Secret) == 0 && !p.Enrols && p.Assertion.Account.Type != TypeWebAuthn
}

// lostPage shows a step of the removal of lost factors, on the built-in page or by a
// redirect to Pages.Factor. token is the secret of a link; empty: there is none.
func lostPage(ctx context.Context, x *exchange, step page.LostStep, token string) (*Response, error) {
	params := []string{"do", string(step)}
	if token != "" {
		x.hide(token)
		params = append(params, "token", token)
	}
	done := x.query.Get("done") == string(step)
	if own := x.setup.config.Pages.Factor; own != "" {
		if done {
			params = append(params, "done", string(step))
		}
		return x.ownPage(own, params...), nil
	}
	return pageResponse(x.setup.pagesFor(ctx, &x.visit).Lost(page.Lost{
		Step: step, Done: done, CSRFToken: x.csrfToken, Action: x.url("factor") + weburl.WithQuery("", params...), BackURL: x.home(), Host: x.origin.Host(),
	}))
}

// lostRoute answers GET and POST /factor with a do of the removal: lost, stop or remove.
// It returns nil, nil for any other do, and without Factors.RecoveryDelay. A GET does not
// use a link up.
func lostRoute(ctx context.Context, x *exchange) (*Response, error) {
	s, d, step, token := x.setup, x.setup.directory.Factors, page.LostStep(x.query.Get("do")), x.query.Get("token")
	if s.config.Factors.RecoveryDelay == 0 || !step.IsKnown() {
		return nil, nil
	}
	if step == page.LostStop {
		return stopLost(ctx, x, token)
	}
	if x.query.Get("done") != "" && !x.isPost() {
		return lostPage(ctx, x, step, "")
	}
	handle, p, err := pendingOf(ctx, s, &x.visit)
	switch {
	case err != nil:
		return nil, err
	case p == nil && step == page.LostRemove && !x.isPost():
		x.hide(token)
		return &Response{Redirect: x.links.signIn(x.url("factor?do=remove&token=" + token))}, nil
	case !canLose(s, p):
		return notPending(ctx, x)
	case step == page.LostAsk && !x.isPost():
		return lostPage(ctx, x, step, "")
	case step == page.LostAsk:
		return askForRemoval(ctx, s, &x.visit, &x.links, p)
	}
	kept := browser.Lost(&x.cookies, s.tenant, x.now(), lostLink)
	if _, err := d.CanComplete(ctx, nil, p.UserID, token, kept); err != nil || !x.isPost() {
		if err != nil {
			return nil, err
		}
		return lostPage(ctx, x, step, token)
	}
	if err := d.CompleteLost(ctx, &x.events, firstOf(s, p), p.UserID, handle, token, kept); errors.Is(err, directory.ErrNotPending) {
		return notPending(ctx, x)
	} else if err != nil {
		return nil, err
	}
	x.cookies.EndHalf()
	browser.EndLost(&x.cookies)
	noticeUser(ctx, x, p.UserID, Message{Kind: MessageFactorRemoved})
	return &Response{Redirect: weburl.WithQuery(x.links.signIn(x.home()), "done", "recovery")}, nil
}

// firstOf returns the assertion of the first factor of a waiting sign-in, for a look
// whether its user's sessions were ended since. IssuedHere is false in it if another
// process has suspended the sign-in.
func firstOf(s *setup, p *directory.Pending) directory.Assertion {
	in := p.Assertion
	in.IssuedHere, in.BegunIn = in.IssuedHere && s.mark.isIn(p.Process), nil
	return in
}

// stopLost shows the button that stops the removal, so that the factors stay, and stops
// it by POST. The link needs no session. A void link is ErrVerification.
func stopLost(ctx context.Context, x *exchange, token string) (*Response, error) {
	d := x.setup.directory.Factors
	if x.query.Get("done") != "" && !x.isPost() {
		return lostPage(ctx, x, page.LostStop, "")
	}
	if !x.isPost() {
		if _, err := d.LookAtLost(ctx, token); err != nil {
			return nil, err
		}
		return lostPage(ctx, x, page.LostStop, token)
	}
	if err := d.StopLost(ctx, &x.events, token); err != nil {
		return nil, err
	}
	return &Response{Redirect: x.url("factor?do=stop&done=stop")}, nil
}

// askForRemoval begins the removal of lost factors after the answer, so that the answer
// does not tell whether it can be done. The removal is stopped if the mail about it
// cannot be sent: the owner has to know.
func askForRemoval(ctx context.Context, s *setup, v *visit, l *links, p *directory.Pending) (*Response, error) {
	kept, delay := challenges.NewHandle(), s.config.Factors.RecoveryDelay
	if err := browser.PutLost(&v.cookies, kept, s.tenant, v.now(), delay+shortestDelay); err != nil {
		return nil, err
	}
	v.hide(kept)
	in, user, by, links := firstOf(s, p), p.UserID, askerFor(s, ctx, v, p.UserID), *l
	s.mails.runLater(ctx, "the removal of lost factors", func(ctx context.Context) error {
		q := &directory.Outbox{Base: v.events.Base, Hears: v.events.Hears, Audit: v.events.Audit}
		defer s.tell(ctx, q, journal.NoSubject{})
		lost, err := s.directory.Factors.BeginLost(ctx, q, in, user, kept, by.language, delay)
		if errors.Is(err, directory.ErrLostRefused) || errors.Is(err, directory.ErrNotPending) {
			s.log.Warn(ctx, err.Error(), "user", user)
			return nil
		}
		if err == nil {
			err = s.mails.send(ctx, lostMail(&links, &lost, MessageRecoveryStarted), by)
		}
		if err != nil && lost.Stop != "" {
			err = errors.Join(err, directory.WithdrawLost(ctx, s.directory.Factors, q, &lost))
		}
		return err
	})
	if asksForJSON(v.request) {
		return factorJSON(p), nil
	}
	return &Response{Redirect: l.url("factor?do=lost&done=lost")}, nil
}

// lostMail returns a mail of a kind about a removal. MessageRecoveryReady has the link
// that removes the factors, and any other kind the link that stops the removal.
func lostMail(l *links, lost *directory.Lost, kind MessageKind) outgoing {
	m := Message{Kind: kind, To: lost.Email, URL: l.url("factor?do=stop&token=" + lost.Stop), Token: lost.Stop, Expires: lost.Ready}
	if kind == MessageRecoveryReady {
		m.URL, m.Token, m.Expires = l.url("factor?do=remove&token="+lost.Link), lost.Link, lost.Expires
	}
	return outgoing{Message: m, UserID: lost.UserID}
}

// remindOfDelays mails what is due to users whose lost factors are being removed, or whose
// address is being replaced. It works in the background. Any request may call it, because a
// process looks at most once in five minutes. It does nothing if l has no origin.
func remindOfDelays(s *setup, ctx context.Context, l *links) {
	isLost := s.config.Factors.RecoveryDelay > 0 && assures(s)
	if !isLost && s.moves == nil || l.origin.Text == "" || !directory.LooksForDue(s.directory) {
		return
	}
	links := *l
	s.mails.runLater(ctx, "mails about delays", func(ctx context.Context) error {
		var faults []error
		if isLost {
			faults = append(faults, remindOfLost(s, ctx, &links))
		}
		if s.moves != nil {
			q := &directory.Outbox{Hears: (*listeners)(&s.config.Events)}
			if s.config.keepsEvents() {
				q.Base, q.Audit = &Event{Time: s.now().UTC(), Tenant: s.tenant}, s.table
			}
			defer s.tell(ctx, q, journal.NoSubject{})
			due, err := directory.DueRegains(ctx, s.directory)
			faults = append(faults, err)
			for i := range due {
				faults = append(faults, s.moves.TellRegain(ctx, q, &due[i], func(ctx context.Context, m passwords.Mail) error {
					return s.mails.send(ctx, wordedMail(&links, s.moves.Provider, m), asker{language: s.config.Texts.Languages[0]})
				}))
			}
		}
		return errors.Join(faults...)
	})
}

// remindOfLost mails what is due to users whose lost factors are being removed.
func remindOfLost(s *setup, ctx context.Context, l *links) error {
	d := s.directory.Factors
	due, err := d.DueLost(ctx)
	for i := range due {
		lost, kind := &due[i], MessageRecoverySoon
		if lost.IsReady(s.now()) {
			kind = MessageRecoveryReady
		}
		err = errors.Join(err, directory.TellLost(ctx, d, lost, func(ctx context.Context) error {
			return s.mails.send(ctx, lostMail(l, lost, kind), asker{language: lost.Language})
		}))
	}
	return err
}

// ownLinks returns the links of a site for work without a request. Their origin is that
// of Site.URL, and empty if that is empty.
func ownLinks(s *setup) *links {
	l := s.links
	l.origin = s.trust.origin
	return &l
}

// leadsToRemoval reports whether a waiting sign-in was begun by a link that removes lost
// factors.
func leadsToRemoval(s *setup, l *links, p *directory.Pending) bool {
	return canLose(s, p) && strings.HasPrefix(p.CallbackURL, l.url("factor?do=remove&token="))
}

// notPending answers a browser that has no sign-in waiting, and removes the cookie of
// one. Scripts get status 401. A browser is redirected to where it was going if a user is
// signed in, and else to the sign-in page.
func notPending(ctx context.Context, x *exchange) (*Response, error) {
	x.cookies.EndHalf()
	if asksForJSON(x.request) {
		res := jsonBytes(http.StatusUnauthorized, []byte("null"))
		return noStore(res), nil
	}
	if u, _ := x.setup.visitor(ctx, &x.visit); u != nil {
		return &Response{Redirect: x.callbackURL}, nil
	}
	return onSignInPage(x), nil
}
