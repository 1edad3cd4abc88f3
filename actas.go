package latchkey

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
)

// An administrator acts as a user: the link.

// The length of a reason, in code points.
const (
	shortestReason = 10
	longestReason  = 500
)

var (
	errNoActAs  = failure.Wrap(ErrInvalidConfig, errors.New("set Session.ActAs.Max to let administrators act as users"))
	errOldProof = failure.Wrap(ErrAccessDenied, failure.Of(fault.AccountFresh, &failure.Mistake{Err: errors.New("acting as a user takes a sign-in within Factors.Recent")}))
	errNoIDs    = failure.Wrap(ErrInvalidConfig, errors.New("acting as a user takes sessions with an ID, and the store keeps none"))
)

// ActAsLink does what [Auth.ActAsLink] does, without net/http.
func (c *Core) ActAsLink(ctx context.Context, r *Request, userID, reason string) (string, error) {
	if err := checkReason(strings.TrimSpace(reason)); err != nil {
		return "", err
	}
	x, err := c.reading(ctx, r)
	if err != nil {
		return "", err
	}
	link, err := actAsLink(x.setup.in(ctx), x, userID, reason)
	tell(ctx, x)
	if err != nil {
		return "", fail(ctx, x, err)
	}
	return link, nil
}

func actAsLink(ctx context.Context, x *exchange, userID, reason string) (string, error) {
	s := x.setup
	if s.acting == nil {
		return "", errNoActAs
	}
	if err := refuseForeign(x, nil, x.request.Method == http.MethodGet || x.request.Method == http.MethodHead); err != nil {
		return "", err
	}
	if x.credential.Bearer != nil { // a token that was stolen would open others
		return "", ErrNoSession
	}
	here, err := s.sessions.current(ctx, &x.visit)
	switch {
	case err != nil:
		return "", err
	case here == nil:
		return "", ErrNoSession
	case here.sessionID == "":
		return "", errNoIDs
	case !provedWithin(here, x.now(), s.config.Factors.Recent):
		return "", errOldProof
	}
	actor := directory.ActorSession{UserID: here.user.ID, SessionID: here.sessionID, Began: here.since, Proved: here.Proved, There: here.names}
	if s.config.Session.Strategy != DatabaseSessions {
		actor.Ends = latestEnd(&s.config.Session, here.since, x.now())
	}
	handle, err := s.acting.Draft(ctx, &x.events, directory.ActingLink{Actor: actor, Reason: strings.TrimSpace(reason), Process: string(s.mark), UserID: userID})
	if err != nil {
		return "", err
	}
	x.hide(handle)
	return x.url("act-as") + "?token=" + url.QueryEscape(handle), nil
}

// checkReason returns an InputError unless reason has 10 to 500 characters of valid UTF-8
// and no NUL.
func checkReason(reason string) error {
	if n := utf8.RuneCountInString(reason); n < shortestReason || n > longestReason || !utf8.ValidString(reason) || strings.ContainsRune(reason, 0) {
		return &fault.InputError{Field: "reason", Problem: "want a text of 10 to 500 characters"}
	}
	return nil
}

// provedWithin reports whether the user of a session has proven their identity within the
// time recent before now; zero stands for ten minutes. It returns false if the time of
// the sign-in is not known, as for a session that another program made.
func provedWithin(here *currentUser, now time.Time, recent time.Duration) bool {
	if recent <= 0 {
		recent = defaultRecent
	}
	return !here.since.IsZero() && !here.isAdopted() && now.Sub(laterOf(here.since, here.Proved)) <= recent
}

// latestEnd returns when a JWT session that is alive now ends at the latest, if not renewed.
func latestEnd(c *SessionConfig, since, now time.Time) time.Time {
	end := now.Add(c.JWT.MaxAge)
	if c.AbsoluteMaxAge > 0 && since.Add(c.AbsoluteMaxAge).Before(end) {
		end = since.Add(c.AbsoluteMaxAge)
	}
	return end
}

// ActAsLink returns a link by which the signed-in administrator acts as the user userID,
// in another browser or a private window. The link works once, within a minute, and only
// while the session of r lives. The application decides which users are administrators,
// and as which users they may act, before it calls ActAsLink. It needs
// [SessionConfig].ActAs.
//
// The session that the link opens is the user's, and [Session].Actor names the
// administrator. It ends after ActAs.Max, or earlier when the session of r ends or the
// sessions of the user are ended. In it everything is refused that only the user may do:
// to change something on the account page, to change factors or passwords, to link
// accounts, to add passkeys, to get tokens for apps or provider tokens, and to pass
// [Auth.RequireSelf]. Callbacks.SignIn and Events.SignIn are not called for it;
// Events.Observe is, with the administrator as By.
//
// reason has 10 to 500 characters without the space around it, such as the number of a
// case; otherwise the error is a [users.InputError]. The Adapter keeps it, encrypted, as long as
// the link, and events have no free text: note it where the case is kept.
//
// r must come from a browser in which the administrator is signed in: otherwise, and for
// a request with a bearer token, the error is ErrNoSession. The administrator must have
// proven their identity within [Factors].Recent, which is 10 minutes if it is zero, by
// signing in or by a later proof: otherwise the error is ErrAccessDenied. It is
// ErrAccessDenied, too, for a suspended user, for the administrator's own id, and if r is of a
// session that such a link opened. An unknown userID is ErrNotFound. A request other than GET
// or HEAD that the browser marks as another site's, or a sibling host's, is ErrMissingCSRF,
// unless [Security].SkipCSRFCheck is set. Without [SessionConfig].ActAs, and if the store
// gives sessions no ids, the error is ErrInvalidConfig. Other errors are ErrUntrustedHost and
// those of a store.
func (a *Auth) ActAsLink(r *http.Request, userID, reason string) (string, error) {
	return a.Core().ActAsLink(r.Context(), requestHead(r), userID, reason)
}
