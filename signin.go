package latchkey

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/explain"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
	"github.com/latchkeyhq/latchkey/internal/texts"
	"github.com/latchkeyhq/latchkey/internal/weburl"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// Signing in. A provider begins it, and later says who the user is. From there on the way
// is the same for all providers: signIn or callback, conclude, completeSignIn (whose
// sign-in is it?), askAbout (may they come in?), finishSignIn (commit, then open the session).

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

// errNoProvider returns the ErrInvalidProvider for an id that no provider has.
func errNoProvider(id string) error {
	return failure.Wrap(ErrInvalidProvider, &failure.Mistake{Err: failure.Of(fault.ProviderUnknown, fmt.Errorf("no provider has the id %q", texts.Cut(id, 64)))})
}

// conclude completes the sign-in of out.assertion, or else returns out.response. If that
// fails, it adds the event of a refused sign-in and counts it, unless the request only
// begins a sign-in or was a step-up. A redirect or response that the
// application returns as an error becomes the response, and is not counted.
func (x *exchange) conclude(ctx context.Context, out outcome, err error) (*Response, error) {
	res := out.response
	if err == nil && out.assertion != nil {
		res, err = x.completeSignIn(ctx, out.assertion)
	}
	if err == nil {
		return res, nil
	}
	if x.action != "signin" && out.proof == nil {
		addRefusal(x, err)
		x.trail.Decided("sign_in=refused")
		if !isSteering(err) {
			x.setup.log.Count(ctx, telemetry.Measure{Kind: telemetry.SignIns, Tenant: x.setup.tenant, Provider: x.provider.info().id, Value: "failure", Type: failure.TypeOf(err)})
		}
	}
	return x.steer(ctx, err)
}

// mostAsked bounds how often the application is asked about one sign-in whose user
// changes meanwhile.
const mostAsked = 3

// completeSignIn completes every kind of sign-in: it finds the user, asks the application
// and for a second factor, writes the records, and opens the session. If a concurrent
// change makes the sign-in end in another user, it starts again with that user. After
// mostAsked users it returns the OtherUser. It may change in.
func (x *exchange) completeSignIn(ctx context.Context, in *directory.Assertion) (*Response, error) {
	if in.Person.ID == "" {
		in.Person.ID = secret.NewUserID()
	}
	var known *User // that the sign-in will end in; nil: it creates one, or there is no directory
	if d := x.setup.directory; d != nil {
		here, err := findLinkingUser(ctx, x, in)
		if err == nil {
			known, err = directory.Foresee(ctx, d, in, here)
		}
		if err != nil {
			return nil, atProvider(x.provider, err)
		}
	}
	landing := x.callbackURL
	unasked := *in // what is found out about one user must not count for another
	for {
		if res, err := askAbout(ctx, x, in, known); res != nil || err != nil {
			return res, err
		}
		res, err := x.finishSignIn(ctx, in)
		other, ok := errors.AsType[*directory.OtherUser](err)
		if !ok || len(in.Allowed) >= mostAsked {
			return res, err
		}
		if other.IsNew {
			unasked.Person.ID = other.User.ID
		}
		unasked.Allowed = in.Allowed
		*in, known, x.callbackURL = unasked, other.Stored(), landing
	}
}

// askAbout asks Callbacks.SignIn about the user that a sign-in ends in, and then
// the gate of second factors. It returns nil if both let the user in, and otherwise an
// error, or the response that asks for the second factor. It writes into the assertion
// what was proven and who was allowed. known is nil for a user that is created now.
func askAbout(ctx context.Context, x *exchange, in *directory.Assertion, known *User) (*Response, error) {
	if x.setup.config.Invitations {
		var err error
		if in.Invitation, err = directory.InvitationOf(ctx, x.setup.directory, in, known); err != nil {
			return nil, atProvider(x.provider, err)
		}
	}
	attempt := attemptOf(x.setup, in, known)
	if err := x.runSignInCallback(ctx, attempt); err != nil {
		return nil, err
	}
	in.Allowed = append(slices.Clip(in.Allowed), attempt.User.ID)
	if x.setup.pause == nil {
		return nil, nil
	}
	res, err := x.setup.pause(ctx, x, in, known)
	if err != nil {
		return nil, atProvider(x.provider, err)
	}
	if res != nil {
		x.trail.Decided("sign_in=challenged")
		x.setup.log.Count(ctx, telemetry.Measure{Kind: telemetry.SignIns, Tenant: x.setup.tenant, Provider: in.Account.Provider, Value: "challenged"})
	}
	return res, nil
}

// attemptOf returns what Callbacks.SignIn gets about a sign-in.
func attemptOf(s *setup, in *directory.Assertion, known *User) SignInAttempt {
	a := SignInAttempt{Invitation: in.Invitation.Shown(), User: in.Person, Account: in.Account, Profile: in.Profile, IDToken: in.IDToken, Credentials: in.Credentials}
	if known != nil {
		a.User = *known
		if in.Account.Type == TypeEmail { // which has no row that would say so
			a.Account.UserID = known.ID
		}
	}
	a.User = s.config.withoutUnprovenEmail(a.User, &in.Account)
	return a
}

// finishSignIn writes a sign-in that was allowed, and opens the session. It returns an error
// that is an OtherUser if the application was not asked about the user that the sign-in
// ends in now.
//
// Once the session is open, nothing ends the sign-in: with an error the browser would get
// no cookie, while its former session has ended and the new one is stored. What
// fails from there on is logged.
func (x *exchange) finishSignIn(ctx context.Context, in *directory.Assertion) (*Response, error) {
	who, err := x.commit(ctx, in)
	if other, ok := errors.AsType[*directory.OtherUser](err); ok && in.Second != nil {
		return nil, failure.Wrap(ErrAccessDenied, failure.Of(fault.AccountOther, other)) // the factor was another user's
	}
	if err != nil {
		return nil, atProvider(x.provider, err)
	}
	if who.Account.Type == TypeEmail {
		who.Account.UserID = who.User.ID
	}
	tell(ctx, x) // what was committed is told before Callbacks.Token runs
	if err := openSession(ctx, x.setup, &x.visit, &x.events, who); err != nil {
		return nil, atProvider(x.provider, err)
	}
	text := "signed in"
	if who.IsRefused {
		text = "no session was opened for a sign-in, because Callbacks.Token returned no claims"
	} else if err := errors.Join(keepBrowser(ctx, x.setup, &x.visit, in, who), carryOver(ctx, x, who), leaveFresh(ctx, x, who)); err != nil {
		x.setup.log.Error(ctx, x, atProvider(x.provider, err)) // the user may be asked for more again
	}
	x.setup.log.Info(ctx, x, text, "user", who.User.ID, "new", who.IsNew)
	countSignIn(ctx, x, who)
	addSignIn(&x.events, who)
	return &Response{Redirect: x.afterSignIn(ctx, who)}, nil
}

// openSession opens the session of a sign-in, or sets who.IsRefused, and ends the former
// session. It also has RecordSignIn store the event of a JWT session. An event that is not in
// the audit log yet is stored by tell. On an error the browser keeps the former session.
func openSession(ctx context.Context, s *setup, v *visit, q *directory.Outbox, who *directory.SignIn) error {
	if err := s.sessions.open(ctx, v, who); err != nil {
		return err
	}
	if s.config.Session.Strategy == JWTSessions && !who.IsRefused {
		if err := q.RecordSignIn(ctx, s.store, who); err != nil {
			return err
		}
	}
	return s.sessions.revokeFormer(ctx, v)
}

// commit has the directory write the sign-in and its session in one transaction. The
// signed-in user becomes the actor of the events. If the sign-in links an account and
// leads to the account page, commit leaves a flash message for that page. Without a
// directory it writes no sign-in. Nor does it for a user that the application itself
// named, if sessions are JWTs and no second factor was used. In both cases it has
// Revocations.Accept check that nothing has ended the sign-in and, if there is a
// directory, calls directory.AcceptVouched.
func (x *exchange) commit(ctx context.Context, in *directory.Assertion) (*directory.SignIn, error) {
	d := x.setup.directory
	if d == nil || (in.Vouched && in.Second == nil && x.setup.config.Session.Strategy != DatabaseSessions) {
		who := &directory.SignIn{Assertion: *in, User: in.Person}
		err := x.setup.revocations.Accept(ctx, nil, who)
		if err == nil && d != nil {
			err = directory.AcceptVouched(ctx, d, &x.events, who.User.ID)
		}
		return who, err
	}
	here, err := findLinkingUser(ctx, x, in)
	if err != nil {
		return nil, err
	}
	if here != nil {
		x.events.SetActor(event.Actor{Kind: event.ActorUser, ID: here.ID})
	}
	who, err := d.CommitSignIn(ctx, &x.events, *in, here, x.setup.sessions.plan(&x.visit))
	if err == nil && in.Vouched {
		who.Said = in.Said
	}
	if err == nil && who.IsLink && x.setup.config.AccountPage.Enabled && x.callbackURL == x.url("account") {
		about := noticeLinked
		if who.Passkey != nil {
			about = noticeAdded
		}
		x.leave(forAccount(&x.visit, about, here.ID))
	}
	return who, err
}

// findLinkingUser returns the signed-in user in whose session the sign-in was begun, to
// whom a new account is linked. It returns nil for a flow that was begun signed out, and
// for a sign-in that names its user. The session that a flow names must be alive and be
// that of the request, or the error is in.SessionGone. If an administrator acts
// as the user, the error is directory.ErrActing. It sets Joined, JoinedNames, IsAdopted
// and IsStale of in.
func findLinkingUser(ctx context.Context, x *exchange, in *directory.Assertion) (*User, error) {
	if in.NamesUser() || in.BegunIn != nil && in.BegunIn.UserID == "" {
		return nil, nil
	}
	here, err := beginnerOf(ctx, x, in.BegunIn)
	if err == nil && here == nil && in.BegunIn != nil {
		err = in.SessionGone()
	}
	if here == nil || err != nil {
		return nil, err
	}
	in.Joined, in.JoinedNames, in.IsAdopted = here.since, here.names, here.isAdopted()
	may, byFactor, err := mayChange(ctx, x.setup, &x.visit, here)
	if err != nil {
		return nil, err
	}
	if x.setup.config.AccountPage.Enabled || x.setup.config.Hardened || byFactor { // a flow keeps no freshness that its session has lost
		in.IsStale = !may || in.BegunIn != nil && !in.BegunFresh
	}
	return &here.user, nil
}

// beginnerOf returns the signed-in user if the sign-in was begun in the session of this
// request, or nil. If b is nil, the session was not recorded: beginnerOf takes it for the
// one of this request.
func beginnerOf(ctx context.Context, x *exchange, b *sessionref.Ref) (*currentUser, error) {
	here, err := x.setup.sessions.current(ctx, &x.visit)
	if err != nil || here == nil || b != nil && !here.isMarked(*b) {
		return nil, err
	}
	return here, nil
}

// carryOver names the new session in flows that other tabs have begun in the former one,
// so that they can still be completed.
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

// countSignIn counts a completed sign-in, and notes for the tracer how it ended.
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

// afterSignIn returns where the browser goes after a sign-in.
func (x *exchange) afterSignIn(ctx context.Context, who *directory.SignIn) string {
	to := x.callbackURL
	if own := x.setup.config.Pages.NewUser; who.IsNew && own != "" {
		to = x.absolute(weburl.WithQuery(own, "callbackUrl", to))
	}
	if f := x.setup.passwords; f != nil && f.OffersPasskey(ctx, who) {
		to = x.url("password") + weburl.WithQuery("", "do", "offer", "callbackUrl", to)
	}
	return to
}

// addRefusal queues the event of a sign-in that failed, for Events.Observe: no other
// function of Events hears of it. A redirect or response of the application has no reason
// in the event but ErrAccessDenied.
func addRefusal(x *exchange, err error) {
	e := Event{Type: event.SignIn, Outcome: event.Failed, Reason: ErrAccessDenied, Detail: fault.SignInDenied}
	if x.events.Base != nil && !isSteering(err) {
		e.Reason, e.Detail = failure.TypeOf(err), explain.DetailOf(err)
		e.Reference = referenceOf(x.setup, &x.visit, e.Detail)
		e.Err = handOut(x, err)
	}
	info := x.provider.info()
	e.Provider, e.ProviderType = info.id, info.kind
	if e.UserID = x.named; e.UserID == "" && info.account != "" && x.events.Base != nil {
		e.Name = nameHash(x.setup, x.field(info.account))
	}
	x.events.Add(e, nil)
}
