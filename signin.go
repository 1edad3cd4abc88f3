package latchkey

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/explain"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
	"github.com/latchkeyhq/latchkey/internal/texts"
	"github.com/latchkeyhq/latchkey/internal/weburl"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// Signing in: a provider begins, and later says who came back; what becomes of
// that is decided in one place, whatever the provider.

func errNoProvider(id string) error {
	return failure.Wrap(ErrInvalidProvider, &failure.Mistake{Err: failure.Of(fault.ProviderUnknown, fmt.Errorf("no provider has the id %q", texts.Cut(id, 64)))})
}

// signIn answers POST /signin and /signin/:provider.
func (x *exchange) signIn(ctx context.Context) (*Response, error) {
	if x.providerID == "" {
		return &Response{Redirect: x.url("signin")}, nil
	}
	if x.provider == nil {
		return nil, errNoProvider(x.providerID)
	}
	started := x.now()
	out, err := x.provider.begin(ctx, x)
	return x.conclude(ctx, out.startedAt(started), err)
}

// callback answers /callback/:provider.
func (x *exchange) callback(ctx context.Context) (*Response, error) {
	if x.provider == nil {
		return nil, errNoProvider(x.providerID)
	}
	started := x.now() // before anything that proves the user is looked at
	out, err := x.provider.receive(ctx, x)
	return x.conclude(ctx, out.startedAt(started), atProvider(x.provider, err))
}

// conclude makes an answer of what a provider's part has ended in.
func (x *exchange) conclude(ctx context.Context, out outcome, err error) (*Response, error) {
	res := out.response
	if err == nil && out.assertion != nil {
		res, err = x.completeSignIn(ctx, *out.assertion)
	}
	if err == nil {
		return res, nil
	}
	if x.action == "callback" {
		addRefusal(x, err)
		x.trail.Decided("sign_in=refused")
		if !isSteering(err) {
			x.setup.log.Count(ctx, telemetry.Measure{Kind: telemetry.SignIns, Tenant: x.setup.tenant, Provider: x.provider.info().id, Value: "failure", Type: failure.TypeOf(err)})
		}
	}
	return x.steer(ctx, err)
}

// completeSignIn completes every kind of sign-in: it finds the user, asks the
// application, writes the records, and opens the session.
func (x *exchange) completeSignIn(ctx context.Context, in directory.Assertion) (*Response, error) {
	if in.Person.ID == "" {
		in.Person.ID = secret.NewUserID()
	}
	var known *User
	if d := x.setup.directory; d != nil {
		here, err := linkingUser(ctx, x, &in)
		if err == nil {
			known, err = directory.Foresee(ctx, d, &in, here)
		}
		if err != nil {
			return nil, atProvider(x.provider, err)
		}
	}
	return askAbout(ctx, x, in, known)
}

// mostAsked bounds how often the application is asked about one sign-in whose user
// changes meanwhile.
const mostAsked = 3

// askAbout asks the application about the user that a sign-in ends in, and admits
// the user if it agrees. known is nil for a user that is created now.
func askAbout(ctx context.Context, x *exchange, in directory.Assertion, known *User) (*Response, error) {
	if x.setup.config.Invitations {
		var err error
		if in.Invitation, err = directory.InvitationOf(ctx, x.setup.directory, &in, known); err != nil {
			return nil, atProvider(x.provider, err)
		}
	}
	attempt := SignInAttempt{Invitation: in.Invitation.Shown(), User: in.Person, Account: in.Account, Profile: in.Profile, IDToken: in.IDToken, Credentials: in.Credentials}
	if known != nil {
		attempt.User = *known
		if in.Account.Type == TypeEmail { // which has no row that would say so
			attempt.Account.UserID = known.ID
		}
	}
	attempt.User = x.setup.config.shown(attempt.User, &in.Account)
	if err := x.runSignInCallback(ctx, attempt); err != nil {
		return nil, err
	}
	in.Allowed = append(slices.Clip(in.Allowed), attempt.User.ID)
	if x.setup.pause != nil {
		if res, err := x.setup.pause(ctx, x, &in, known); res != nil || err != nil {
			if err == nil {
				x.trail.Decided("sign_in=challenged")
				x.setup.log.Count(ctx, telemetry.Measure{Kind: telemetry.SignIns, Tenant: x.setup.tenant, Provider: in.Account.Provider, Value: "challenged"})
			}
			return res, atProvider(x.provider, err)
		}
	}
	return x.admit(ctx, in)
}

// admit writes what a sign-in that was allowed makes necessary, and opens the session.
// Once the session is open, nothing ends the sign-in: with an error the browser would get
// no cookie, while its former session has ended and the new one is stored. What
// fails from there on is logged.
func (x *exchange) admit(ctx context.Context, in directory.Assertion) (*Response, error) {
	who, err := x.commit(ctx, in)
	if other, ok := errors.AsType[*directory.OtherUser](err); ok && in.Second != nil {
		return nil, failure.Wrap(ErrAccessDenied, failure.Of(fault.AccountOther, other)) // the factor was another user's
	} else if ok && len(in.Allowed) < mostAsked {
		if other.IsNew {
			in.Person.ID = other.User.ID
		}
		return askAbout(ctx, x, in, other.Stored())
	}
	if err != nil {
		return nil, atProvider(x.provider, err)
	}
	if who.Account.Type == TypeEmail {
		who.Account.UserID = who.User.ID
	}
	tell(ctx, x) // what was committed is told before Callbacks.Token runs
	if err := openSession(ctx, x, who); err != nil {
		return nil, atProvider(x.provider, err)
	}
	said := "signed in"
	if who.IsRefused {
		said = "no session was opened for a sign-in, because Callbacks.Token returned no claims"
	} else if err := errors.Join(keepBrowser(ctx, x.setup, &x.visit, &in, who), carryOver(ctx, x, who), leaveFresh(ctx, x, who)); err != nil {
		x.setup.log.Error(ctx, x, atProvider(x.provider, err)) // the user may be asked for more again
	}
	x.setup.log.Info(ctx, x, said, "user", who.User.ID, "new", who.IsNew)
	countSignIn(ctx, x, who)
	addSignIn(&x.events, who)
	return &Response{Redirect: x.destination(who)}, nil
}

// openSession opens the session of a sign-in, stores the event of it in the audit log
// unless that was done with the session, and ends the former session. On an error the
// browser keeps the former one.
func openSession(ctx context.Context, x *exchange, who *directory.SignIn) error {
	s := x.setup
	if err := s.sessions.open(ctx, &x.visit, who); err != nil {
		return err
	}
	if s.config.Session.Strategy == JWTSessions && !who.IsRefused {
		if err := x.events.RecordSignIn(ctx, s.store, who); err != nil {
			return err
		}
	}
	return s.sessions.endFormer(ctx, &x.visit)
}

// countSignIn counts a completed sign-in.
func countSignIn(ctx context.Context, x *exchange, who *directory.SignIn) {
	x.trail.UserID = who.User.ID
	value, resolved := "success", "resolve=known"
	switch {
	case who.IsNew:
		value, resolved = "new_user", "resolve=created"
	case who.IsLink:
		resolved = "resolve=linked"
	}
	x.trail.Decided(resolved)
	sign := telemetry.Measure{Kind: telemetry.SignIns, Tenant: x.setup.tenant, Provider: who.Account.Provider, Value: value}
	if who.IsRefused {
		sign.Value, sign.Type = "failure", ErrAccessDenied
		x.trail.Decided("session=refused")
		x.setup.log.Count(ctx, sign)
		return
	}
	x.trail.Decided("session=opened")
	x.setup.log.Count(ctx, sign)
	x.setup.log.Count(ctx, telemetry.Measure{Kind: telemetry.SessionsOpened, Value: string(x.setup.config.Session.Strategy)})
}

// leaveFresh has the account page know that this session is new, where no store
// and no token may say so.
func leaveFresh(ctx context.Context, x *exchange, who *directory.SignIn) error {
	if x.setup.store == nil || !x.setup.config.AccountPage.Enabled || who.IsLink || x.callbackURL != x.deletion() && x.callbackURL != x.change() && x.callbackURL != ownExport(&x.links) {
		return nil
	}
	mark, err := x.setup.sessions.markOf(ctx, who)
	if err == nil {
		x.leave(browser.Flash{About: noticeFresh, User: mark.UserID, Session: mark.SessionID, Proved: x.now()})
	}
	return err
}

// commit has the directory write the sign-in, where there is one and something
// to write.
func (x *exchange) commit(ctx context.Context, in directory.Assertion) (*directory.SignIn, error) {
	d := x.setup.directory
	if d == nil || (in.Vouched && in.Second == nil && x.setup.config.Session.Strategy != DatabaseSessions) {
		who := &directory.SignIn{Assertion: in, User: in.Person}
		err := x.setup.revocations.Accept(ctx, nil, who)
		if err == nil && d != nil {
			err = directory.CheckSuspension(ctx, d, x.setup.store, who.User.ID)
		}
		return who, err
	}
	here, err := linkingUser(ctx, x, &in)
	if err != nil {
		return nil, err
	}
	if here != nil {
		x.events.SetActor(event.Actor{Kind: event.ActorUser, ID: here.ID})
	}
	who, err := d.CommitSignIn(ctx, &x.events, in, here, x.setup.sessions.plan(&x.visit))
	if err == nil && in.Vouched {
		who.Said = in.Said
	}
	if err == nil && here != nil && x.setup.config.AccountPage.Enabled && x.callbackURL == x.url("account") {
		about := noticeLinked
		if who.Passkey != nil {
			about = noticeAdded
		}
		x.leave(forAccount(&x.visit, about, here.ID))
	}
	return who, err
}

// linkingUser returns the signed-in user that a new account should be linked
// to, or nil. A sign-in that was begun elsewhere names its session, which must
// be alive and that of this browser.
func linkingUser(ctx context.Context, x *exchange, in *directory.Assertion) (*User, error) {
	if in.Vouched || in.ProvesEmail || in.BegunIn != nil && in.BegunIn.UserID == "" {
		return nil, nil
	}
	here, err := whoBegan(ctx, x, in.BegunIn)
	if err != nil {
		return nil, err
	}
	if here == nil {
		if in.BegunIn != nil {
			err = in.SessionGone()
		}
		return nil, err
	}
	in.Joined, in.IsAdopted = here.since, here.isAdopted()
	may, byFactor, err := mayChange(ctx, x.setup, &x.visit, here)
	if err != nil {
		return nil, err
	}
	if x.setup.config.AccountPage.Enabled || x.setup.config.Hardened || byFactor { // a flow keeps no freshness that its session has lost
		in.IsStale = !may || in.BegunIn != nil && !in.BegunFresh
	}
	return &here.user, nil
}

// whoBegan returns the user of the session in which a sign-in was begun, or
// nil.
func whoBegan(ctx context.Context, x *exchange, b *sessionref.Ref) (*currentUser, error) {
	here, err := x.setup.sessions.current(ctx, &x.visit)
	if err != nil || here == nil || b != nil && !here.isMarked(*b) {
		return nil, err
	}
	return here, nil
}

// carryOver keeps what other tabs have begun in the session that the one of this
// sign-in replaces.
func carryOver(ctx context.Context, x *exchange, who *directory.SignIn) error {
	b, now := who.BegunIn, x.now()
	if b == nil || b.UserID == "" || b.UserID != who.User.ID || !x.cookies.HasFlowOf(*b, now) {
		return nil
	}
	to, err := x.setup.sessions.markOf(ctx, who)
	if err != nil {
		return err
	}
	return x.cookies.CarryOver(*b, to, now)
}

// steer sends the browser where the application's code wants it to go instead.
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

// addSignIn tells a completed sign-in.
func addSignIn(events *directory.Outbox, who *directory.SignIn) {
	var payload any
	if events.Wants(event.SignIn) {
		payload = SignInEvent{User: who.User, Account: who.Account, Profile: who.Profile, IDToken: who.IDToken, IsNewUser: who.IsNew, Invitation: who.Invitation.Shown()}
	}
	events.Add(who.Event(), payload)
}

// addRefusal adds the event of a sign-in that failed, for Events.Observe: no other
// function of Events hears of it. A redirect or response of the application has no reason
// in the event but ErrAccessDenied.
func addRefusal(x *exchange, err error) {
	e := Event{Type: event.SignIn, Outcome: event.Failed, Reason: ErrAccessDenied}
	if x.events.Base != nil && !isSteering(err) {
		e.Reason, e.Detail = failure.TypeOf(err), explain.DetailOf(err)
		e.Reference = referenceOf(x.setup, &x.visit, e.Detail)
		e.Err = handOut(x, err)
	}
	info := x.provider.info()
	e.Provider, e.ProviderType = info.id, info.kind
	x.events.Add(e, nil)
}

// destination returns where the browser goes after a sign-in.
func (x *exchange) destination(who *directory.SignIn) string {
	if own := x.setup.config.Pages.NewUser; who.IsNew && own != "" {
		return x.absolute(weburl.WithQuery(own, "callbackUrl", x.callbackURL))
	}
	return x.callbackURL
}
