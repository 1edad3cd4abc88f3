package latchkey

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/weburl"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// mailCall is the name under which Email.Send is called.
const mailCall = "Email.Send"

// What the application decides about one request, and what it is told.

// hook calls f, a function of the application that returns a result, and waits for at
// most Limits.CallbackTimeout, and no longer than ctx lives. f runs on a goroutine of its
// own. A panic of f, and a call that takes longer, is an error. name stands for the call
// in logs and traces.
func hook[T any](ctx context.Context, s *setup, name string, f func(context.Context) (T, error)) (T, error) {
	ctx, step := s.log.Begin(ctx, telemetry.OpCallback, name, "")
	result, err := guarded.Timed(ctx, s.config.Limits.CallbackTimeout, name, f)
	step.End(err)
	return result, err
}

// hookOnRead does what hook does, for functions that run at each read of a session. It
// calls f on the caller's goroutine, which costs a tenth of hook. The context of f has
// the deadline, but an f that ignores it is not interrupted.
func hookOnRead[T any](ctx context.Context, s *setup, name string, f func(context.Context) (T, error)) (T, error) {
	ctx, step := s.log.Begin(ctx, telemetry.OpCallback, name, "")
	result, err := guarded.Inline(ctx, s.config.Limits.CallbackTimeout, name, f)
	step.End(err)
	return result, err
}

// ask does what hook does, for a function without a result, and waits for at most limit.
func (s *setup) ask(ctx context.Context, limit time.Duration, name string, f func(context.Context) error) error {
	ctx, step := s.log.Begin(ctx, kindOfCall(name), name, "")
	_, err := guarded.Timed(ctx, limit, name, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) })
	step.End(err)
	return err
}

// kindOfCall returns what kind of operation a call of the application is.
func kindOfCall(name string) telemetry.OperationKind {
	if name == mailCall {
		return telemetry.OpMail
	}
	return telemetry.OpCallback
}

// runSignInCallback calls Callbacks.SignIn, if there is one. With Invitations, and if a
// magic link is about to be sent, it looks up the invitation for that address and sets
// a.Invitation. A refusal is ErrAccessDenied unless it has a type of its own. An error of
// RedirectTo or RespondWith is returned as it is.
func (x *exchange) runSignInCallback(ctx context.Context, a SignInAttempt) error {
	decide := x.setup.config.Callbacks.SignIn
	if decide == nil {
		return nil
	}
	if a.VerificationRequest && x.setup.config.Invitations {
		in, err := directory.InvitationTo(ctx, x.setup.directory, a.User.Email)
		if err != nil {
			return atProvider(x.provider, err)
		}
		a.Invitation = in.Shown()
	}
	attempt := a // what the function below keeps is made only here
	err := x.setup.ask(ctx, x.setup.config.Limits.CallbackTimeout, "Callbacks.SignIn", func(ctx context.Context) error { return decide(ctx, attempt) })
	if err != nil && !isSteering(err) && !failure.IsTyped(err) {
		return failure.WrapFor(ErrAccessDenied, a.Account.Provider, err)
	}
	return atProvider(x.provider, err)
}

// resolveRedirect returns the absolute URL that a browser is sent to. to is the target that
// a request or a callback names. Every such target passes through here before it becomes a
// redirect. Without Callbacks.Redirect, a target of another origin becomes the home of
// the site; with it, the callback chooses, and a choice that is neither a path nor an
// http(s) URL is logged and becomes the home. It returns weburl.ErrInvalid for a
// malformed URL, or the error of Callbacks.Redirect.
func (x *exchange) resolveRedirect(ctx context.Context, to string) (string, error) {
	base, decide := x.origin.Text, x.setup.config.Callbacks.Redirect
	if decide == nil && (to == base || to == rootOf(&x.links)) { // nearly always
		return x.home(), nil
	}
	if decide == nil {
		to, err := weburl.Resolve(to, base)
		if to == base {
			to = x.home()
		}
		return to, err
	}
	if !strings.HasPrefix(to, "/") && !weburl.Parses(to) {
		return "", weburl.ErrInvalid
	}
	chosen, err := hook(ctx, x.setup, "Callbacks.Redirect", func(ctx context.Context) (string, error) { return decide(ctx, to, base) })
	if err != nil {
		return "", err
	}
	// The application may choose any host, but no other scheme and nothing that
	// breaks a header.
	switch {
	case chosen == base || chosen == rootOf(&x.links):
		return x.home(), nil
	case strings.HasPrefix(chosen, "/"):
		return base + weburl.Escape(chosen), nil
	case weburl.IsHTTP(chosen) && !strings.ContainsAny(chosen, "\\ "):
		return chosen, nil
	}
	x.setup.log.Error(ctx, x, failure.Wrap(ErrInvalidCallbackURL, failure.Of(fault.CallbackURLInvalid, errors.New("Callbacks.Redirect chose neither a path nor an http(s) URL"))))
	return x.home(), nil
}

// languageOf returns the language of the client: what Texts.Choose returns if it is one
// of the site's, else the best match for what the browser accepts, else the first of
// Texts.Languages.
func (s *setup) languageOf(ctx context.Context, v *visit) string {
	t := &s.config.Texts
	if t.Choose != nil {
		chosen, err := guarded.ContainResult(func() (string, error) { return t.Choose(ctx, v.request), nil })
		if err != nil {
			s.log.Error(ctx, v.about, err)
		}
		if found := s.languages.Match(chosen); found != "" {
			return found
		}
	}
	if found := s.languages.Match(v.request.Header["Accept-Language"]...); found != "" {
		return found
	}
	return t.Languages[0]
}

// expose runs Callbacks.Session, and returns the session with its JSON. It returns an
// error if the callback fails or returns no session. It queues the event for
// Events.Session.
func (s *setup) expose(ctx context.Context, events *directory.Outbox, in SessionInfo) (*reading, error) {
	shaped, stored := in.Session, in.User
	if shape := s.config.Callbacks.Session; shape != nil {
		kept := *in.Session
		kept.AMR = slices.Clone(kept.AMR)
		if in.User != nil { // what the callback gets is its own to change
			own := *in.User
			own.Extra = maps.Clone(own.Extra)
			stored = &own
		}
		var err error
		if shaped, err = hookOnRead(ctx, s, "Callbacks.Session", func(ctx context.Context) (*Session, error) { return shape(ctx, in) }); err != nil {
			return nil, err
		}
		if shaped == nil {
			return nil, errors.New("Callbacks.Session returned no session")
		}
		shaped = shaped.withServerFields(&kept, shaped != in.Session)
	}
	json, err := appendSession(make([]byte, 0, 256), shaped)
	if err != nil {
		return nil, err
	}
	if s.config.Events.Session != nil {
		events.Add(Event{}, SessionEvent{Session: *shaped, Claims: in.Claims, Stored: in.Stored})
	}
	return &reading{json, shaped, stored}, nil
}

// withServerFields returns s with the fields of from that no callback may change. It sets
// them in s itself or, if foreign is true, in a copy, since the application may use s for
// other requests.
func (s *Session) withServerFields(from *Session, foreign bool) *Session {
	if foreign {
		copied := *s
		s = &copied
	}
	s.UserID, s.ID, s.Tenant, s.Provider, s.Via, s.Assurance, s.Actor = from.UserID, from.ID, from.Tenant, from.Provider, from.Via, from.Assurance, from.Actor
	return s
}

// addSignOut queues the event of a session that has ended, with e for Events.SignOut.
func addSignOut(events *directory.Outbox, ended endedSession, e SignOutEvent) {
	var payload any
	if events.Wants(event.SessionEnded) {
		payload = e
	}
	events.Add(Event{
		Type: event.SessionEnded, UserID: ended.userID, SessionID: ended.id, Provider: ended.provider,
		By: event.Actor{Kind: event.ActorUser, ID: ended.userID},
	}, payload)
}

// addSignIn queues the event of a completed sign-in.
func addSignIn(events *directory.Outbox, who *directory.SignIn) {
	var payload any
	if events.Wants(event.SignIn) {
		payload = SignInEvent{User: who.User, Account: who.Account, Profile: who.Profile, IDToken: who.IDToken, IsNewUser: who.IsNew, Invitation: who.Invitation.Shown()}
	}
	events.Add(who.Event(), payload)
}

// endLate calls end, which has just failed to end a session, up to 70 times in the background.
// When end succeeds, endLate tells the events that end has added. If end returns ErrNotFound
// or directory.ErrNoToken, nothing is left to end, and endLate stops without an event.
func endLate(ctx context.Context, s *setup, v *visit, end func(context.Context, *directory.Outbox) error) {
	events := directory.Outbox{Hears: v.events.Hears, Audit: v.events.Audit}
	if b := v.events.Base; b != nil {
		base := *b
		events.Base = &base
	}
	s.lateEnds.Add(ctx, func(ctx context.Context) error {
		o := events
		if o.Base != nil {
			o.Base.Time = s.now().UTC()
		}
		err := end(ctx, &o)
		if err == nil {
			s.tell(ctx, &o, journal.NoSubject{})
		}
		return failure.Ignoring(failure.Ignoring(err, ErrNotFound), directory.ErrNoToken)
	})
}

// withoutUnprovenEmail returns u as the callbacks of a sign-in with account a get it. When Hardened, and
// a is an account at an OAuth provider, it empties an e-mail address that neither the
// user nor that provider has proven, so that no callback gives rights by it. The
// account still has it. In any other case it returns u as it is.
func (c *Config) withoutUnprovenEmail(u User, a *Account) User {
	isProvider := a.Type == TypeOAuth || a.Type == TypeOIDC
	if c.Hardened && isProvider && u.EmailVerified.IsZero() && !(a.EmailVouched && a.Email == u.Email) {
		u.Email = ""
	}
	return u
}

// steer returns the response that an error of RespondWith or RedirectTo stands for. It returns
// an ErrAccessDenied if the response is nil, or if the URL is malformed or Callbacks.Redirect
// refuses it. It returns any other err as it is.
func (x *exchange) steer(ctx context.Context, err error) (*Response, error) {
	if own, ok := errors.AsType[*ownResponse](err); ok {
		if own.res == nil {
			return nil, failure.Wrap(ErrAccessDenied, failure.Of(fault.CallbackFailed, errNilResponse))
		}
		return ownAnswer(own.res), nil
	}
	elsewhere, ok := errors.AsType[*redirect](err)
	if !ok {
		return nil, err
	}
	to, err := x.resolveRedirect(ctx, x.outward(elsewhere.to))
	if err != nil {
		return nil, failure.Wrap(ErrAccessDenied, err)
	}
	return &Response{Redirect: to}, nil
}
