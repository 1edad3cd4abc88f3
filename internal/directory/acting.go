package directory

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// Sessions in which an administrator acts as a user. A link that works once opens
// one. It is the user's, names the administrator, and is void without the session
// from which the link was made. Each read looks at that session: no end of it has to
// know what it was used for.

// Acting makes and opens links by which administrators act as users. Its directory
// keeps challenges.
type Acting struct {
	Directory *Directory
	Max       time.Duration                     // of a session
	IsOver    func(*storage.StoredSession) bool // reports that a stored session has expired
}

// ActorSession is the session of an administrator who acts as a user.
type ActorSession struct {
	UserID    string          `json:"uid"`
	SessionID string          `json:"sid"`
	Began     time.Time       `json:"auth_time"`       // the sign-in
	Proved    time.Time       `json:"proved,omitzero"` // the latest proof; zero: the sign-in
	Ends      time.Time       `json:"ends,omitzero"`   // zero: no session of the user outlives it for that
	There     []ProviderNames `json:"there,omitempty"` // what its providers call it
}

// ActingLink is what a link holds.
type ActingLink struct {
	Actor   ActorSession
	Reason  string
	Process string // an id of the process that made it

	UserID string    `json:"-"` // set by Link
	Issued time.Time `json:"-"` // set by Link
}

// actingLinkLife is how long a link works.
const actingLinkLife = time.Minute

// ErrNotActing reports a link that was used, is too old, or was made from a session
// that has ended.
var ErrNotActing = failure.Wrap(fault.ErrVerification, failure.Of(fault.LinkUsed, &failure.Mistake{Err: errors.New("the link to act as a user was used, is too old, or its administrator has signed out")}))

// ErrActing reports that only the user may do something, and not an administrator who
// acts as the user.
var ErrActing = failure.Wrap(fault.ErrAccessDenied, failure.Of(fault.SignInDenied, &failure.Mistake{Err: errors.New("an administrator who acts as the user may not do this")}))

var errOneself = failure.Wrap(fault.ErrAccessDenied, failure.Of(fault.SignInDenied, &failure.Mistake{Err: errors.New("the user is the administrator")}))

// By returns the administrator as an event names them.
func (s *ActorSession) By() event.Actor { return event.Actor{Kind: event.ActorAdmin, ID: s.UserID} }

// Ended returns the event of the end of a session in which the administrator acted.
func (s *ActorSession) Ended(userID, sessionID string) event.Event {
	return event.Event{Type: event.ImpersonationEnded, UserID: userID, SessionID: sessionID, By: s.By()}
}

// Claims returns the claims act and ActorSession of a token.
func (s *ActorSession) Claims() (act, session any) {
	text, _ := json.Marshal(s) // times of the years 0 to 9999 always have a form
	return map[string]any{jwtclaims.Subject: s.UserID}, string(text)
}

// ActorOf returns the administrator's session that a token names; nil: the token is
// the user's own. One that cannot be read has no id, and is alive nowhere.
func ActorOf(c jwt.Claims) *ActorSession {
	named, acts := c[jwtclaims.ActorSession]
	if !acts {
		return nil
	}
	s := &ActorSession{}
	if text, _ := named.(string); json.Unmarshal([]byte(text), s) != nil {
		return &ActorSession{}
	}
	return s
}

// CheckToken returns ErrNoToken if an administrator acts in the token and the
// administrator's session is not alive. A nil a refuses every token in which an
// administrator acts.
func (a *Acting) CheckToken(ctx context.Context, c jwt.Claims) error {
	actor := ActorOf(c)
	switch {
	case actor == nil:
		return nil
	case a == nil || actor.UserID == "" || actor.SessionID == "":
		return ErrNoToken
	}
	return a.Check(ctx, nil, actor)
}

// CheckRow does what CheckToken does, for a stored session.
func (a *Acting) CheckRow(ctx context.Context, row *storage.StoredSession) error {
	switch {
	case row.Actor == "" && row.ActorSession == "":
		return nil
	case a == nil || row.Actor == "" || row.ActorSession == "":
		return ErrNoToken
	}
	return a.Check(ctx, a.Directory.Store, &ActorSession{UserID: row.Actor, SessionID: row.ActorSession})
}

// Draft stores a link and returns its handle. It returns ErrNotFound for an unknown
// user, and an error that is ErrAccessDenied for a suspended user and for the
// administrator.
func (a *Acting) Draft(ctx context.Context, q *Outbox, link ActingLink) (handle string, err error) {
	d := a.Directory
	defer func() {
		if err != nil {
			q.Add(event.Event{Type: event.ImpersonationRefused, Outcome: event.Failed, Reason: failure.TypeOf(err), UserID: link.UserID, By: link.Actor.By()}, nil)
		}
	}()
	if link.UserID == link.Actor.UserID {
		return "", errOneself
	}
	u, err := d.Store.User(ctx, link.UserID)
	if err == nil {
		err = CheckSuspension(ctx, d, d.Store, u.ID)
	}
	if err != nil {
		return "", err
	}
	return d.Waiting(d.Store).Create(ctx, challenge.Draft{Purpose: challenge.ActAs, UserID: u.ID, Data: link, Life: actingLinkLife})
}

// Link returns what a handle names, and its user. It returns ErrNotActing if there is
// nothing.
func (a *Acting) Link(ctx context.Context, handle string) (*ActingLink, storage.User, error) {
	row, err := a.Directory.Waiting(a.Directory.Store).Get(ctx, challenge.ActAs, handle)
	link, err := readLink(row, err)
	if err != nil {
		return nil, storage.User{}, err
	}
	u, err := a.Directory.Store.User(ctx, link.UserID)
	return link, u, refusedIf(err)
}

// readLink decodes a link, or returns ErrNotActing if err says that there is none.
func readLink(row *challenge.Row, err error) (*ActingLink, error) {
	if err != nil {
		return nil, refusedIf(err)
	}
	link := &ActingLink{}
	if err := row.Read(link); err != nil {
		return nil, err
	}
	link.UserID, link.Issued = row.UserID, row.Created
	return link, nil
}

// refusedIf returns ErrNotActing if err is ErrNotFound, ErrNoToken or ErrEnded, and any
// other err as it is.
func refusedIf(err error) error {
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, ErrNoToken) || errors.Is(err, ErrEnded) {
		return ErrNotActing
	}
	return err
}

// Open uses a link up and opens its session: with plan a stored one, and otherwise what a
// token is made of. isOwn reports whether a process has made the link. It returns
// ErrNotActing for a link that is void.
func (a *Acting) Open(ctx context.Context, q *Outbox, handle string, plan *SessionPlan, isOwn func(process string) bool) (*SignIn, error) {
	d := a.Directory
	var signIn *SignIn
	err := q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) error {
		row, err := d.Waiting(s).Take(ctx, challenge.ActAs, handle)
		link, err := readLink(row, err)
		if err != nil {
			return err
		}
		if signIn, err = a.open(ctx, s, link, plan, isOwn(link.Process)); err != nil {
			return err
		}
		err = afterCommit(ctx, s, func(ctx context.Context, s *Store) error { return a.storeActing(ctx, s, signIn, plan) })
		if err == nil {
			q.Foretell(signIn.actingEvent())
		}
		return err
	})
	if err != nil {
		return nil, refusedIf(err)
	}
	q.Add(signIn.actingEvent(), nil)
	return signIn, nil
}

// actingEvent returns the event that tells that an administrator acts as a user.
func (signIn *SignIn) actingEvent() event.Event {
	return event.Event{Type: event.ImpersonationStarted, UserID: signIn.User.ID, SessionID: signIn.Session.ID, By: signIn.Actor.By()}
}

// open makes the session of a link that was used up, in s. The administrator's session
// has to be alive (otherwise ErrNoToken), and the user may not have been suspended or
// signed out since. The session ends with the administrator's, and after Max at the
// latest. With plan it is one to store: see storeActing.
func (a *Acting) open(ctx context.Context, s *Store, link *ActingLink, plan *SessionPlan, isOwn bool) (*SignIn, error) {
	d := a.Directory
	if err := a.Check(ctx, s, &link.Actor); err != nil {
		return nil, err
	}
	u, err := s.User(ctx, link.UserID)
	if err != nil {
		return nil, err
	}
	signIn := &SignIn{
		Assertion: Assertion{UserID: u.ID, Allowed: []string{u.ID}, Started: d.Now(), Issued: link.Issued, IssuedHere: isOwn, Account: storage.Account{Type: storage.TypeEmail}},
		User:      u, Actor: &link.Actor,
	}
	if err := d.recognise(ctx, s, signIn, u); err != nil {
		return nil, err
	}
	signIn.Until = d.Now().Add(a.Max)
	if ends := link.Actor.Ends; !ends.IsZero() && ends.Before(signIn.Until) {
		signIn.Until = ends
	}
	if plan == nil {
		signIn.Session.ID = secret.RandomHex(16)
		return signIn, nil
	}
	signIn.Session = plan.Row
	signIn.Session.UserID, signIn.Session.Expires = u.ID, signIn.Until.UTC().Truncate(time.Millisecond)
	signIn.Session.Actor, signIn.Session.ActorSession = link.Actor.UserID, link.Actor.SessionID
	return signIn, nil
}

// storeActing stores the session of an administrator who acts as a user. It deletes one
// that does not keep the administrator, and returns an error. Without plan there is
// nothing to store.
func (a *Acting) storeActing(ctx context.Context, s *Store, signIn *SignIn, plan *SessionPlan) error {
	if plan == nil {
		return nil
	}
	if err := s.CreateSession(ctx, signIn.Session); err != nil {
		return err
	}
	if err := confirmActor(ctx, s, signIn); err != nil {
		return errors.Join(err, undoSession(ctx, s, signIn))
	}
	if a.Directory.Store.SessionsInTx() {
		return nil
	}
	return a.Directory.confirmSession(ctx, s, signIn)
}

// confirmActor reads the session back and takes over its ID. It returns an error if the
// session was stored without its administrator: it would be the user's own.
func confirmActor(ctx context.Context, s *Store, signIn *SignIn) error {
	found, err := s.Session(ctx, signIn.Session.Token)
	if err != nil {
		return err
	}
	if found.Row.Actor != signIn.Session.Actor || found.Row.ActorSession != signIn.Session.ActorSession {
		return failure.Wrap(fault.ErrInvalidConfig, errors.New("the stored session does not name the administrator: whatever keeps sessions must keep StoredSession.Actor and ActorSession"))
	}
	signIn.Session.ID = found.Row.ID
	return nil
}

// Check returns ErrNoToken unless the session of an administrator is alive. s is the
// store of the transaction that this is part of. For JWT sessions it may be nil.
func (a *Acting) Check(ctx context.Context, s *Store, actor *ActorSession) error {
	d := a.Directory
	if !d.StoredSessions {
		return d.Revocations.checkIn(ctx, s, TokenOrigin{SessionID: actor.SessionID, UserID: actor.UserID, Began: actor.Began, Proved: actor.Proved, There: actor.There})
	}
	rows, err := s.ListSessions(ctx, actor.UserID)
	if err != nil {
		return err
	}
	own := slices.IndexFunc(rows, func(row storage.StoredSession) bool {
		return row.ID == actor.SessionID && row.Actor == "" && row.Tenant == d.Tenant && !a.IsOver(&row)
	})
	if own < 0 {
		return ErrNoToken
	}
	if err := d.Revocations.CheckFormer(ctx, s, &rows[own]); err != nil {
		return err
	}
	found, err := suspensionOf(ctx, s, actor.UserID)
	if err == nil && found.Holds(d.Now()) {
		err = ErrNoToken
	}
	return err
}
