package directory

import (
	"cmp"
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

// Acting makes and opens links by which administrators act as users. Its directory needs
// a Box, in which the links are kept as challenges.
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

// Claims returns the values of the two claims by which a token names the administrator:
// act (RFC 8693, section 4.1), and ActorSession, which is s as JSON text.
func (s *ActorSession) Claims() (act, session any) {
	text, _ := json.Marshal(s) // times of the years 0 to 9999 always have a form
	return map[string]any{jwtclaims.Subject: s.UserID}, string(text)
}

// ActorOf returns the administrator's session that a token names. It returns nil if the
// token is the user's own. A claim that cannot be read yields a session without ids,
// which CheckToken refuses.
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
// administrator's session is not alive. For a token of the user's own it returns nil. A
// nil a refuses every token in which an administrator acts. Any other error is that of
// the store.
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

// CheckRow returns ErrNoToken if an administrator acts in row and the administrator's session
// is not alive, or if row names only one of the two. A nil a refuses a row that names either.
func (a *Acting) CheckRow(ctx context.Context, row *storage.StoredSession) error {
	switch {
	case row.Actor == "" && row.ActorSession == "":
		return nil
	case a == nil || row.Actor == "" || row.ActorSession == "":
		return ErrNoToken
	}
	return a.Check(ctx, a.Directory.Store, &ActorSession{UserID: row.Actor, SessionID: row.ActorSession})
}

// Draft stores a link by which link.Actor can act as the user link.UserID, and returns the
// handle of the link. The link works for a minute. Draft returns ErrNotFound for an unknown
// user. It returns an error that is ErrAccessDenied if that user is suspended, or is the
// administrator. After any error it adds the event ImpersonationRefused to q. It does not look
// at the administrator's session.
func (a *Acting) Draft(ctx context.Context, q *Outbox, link ActingLink) (handle string, err error) {
	d := a.Directory
	defer func() {
		if err != nil {
			why := cmp.Or(failure.DetailOf(err), fault.StoreFailed)
			if errors.Is(err, storage.ErrNotFound) {
				why = fault.UserMissing
			}
			q.Add(event.Event{Type: event.ImpersonationRefused, Outcome: event.Failed, Reason: failure.TypeOf(err), Detail: why, UserID: link.UserID, By: link.Actor.By()}, nil)
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

// Link returns the link that a handle names, and its user. It does not use the link up,
// and does not look at the administrator's session. It returns ErrNotActing if the link
// or the user is gone.
func (a *Acting) Link(ctx context.Context, handle string) (*ActingLink, storage.User, error) {
	row, err := a.Directory.Waiting(a.Directory.Store).Get(ctx, challenge.ActAs, handle)
	link, err := readLink(row, err)
	if err != nil {
		return nil, storage.User{}, err
	}
	u, err := a.Directory.Store.User(ctx, link.UserID)
	return link, u, refusedIf(err)
}

// readLink decodes a link and sets the fields that come from its row. It returns
// ErrNotActing if err says that there is none.
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
// other err unchanged.
func refusedIf(err error) error {
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, ErrNoToken) || errors.Is(err, ErrEnded) {
		return ErrNotActing
	}
	return err
}

// Open uses a link up and opens a session in which the administrator acts as the user.
// With a plan it stores that session. With a nil plan it stores none: the caller makes a
// token of the SignIn, whose session has an ID. isOwn reports whether the id of a process
// is that of this process. Open returns ErrNotActing if the link was used or has expired,
// if the administrator's session has ended, or if the user is gone or was signed out
// since. For a suspended user the error is a Suspended. Open adds the event
// ImpersonationStarted.
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

// actingEvent returns the event ImpersonationStarted of a session in which an
// administrator acts as its user.
func (signIn *SignIn) actingEvent() event.Event {
	return event.Event{Type: event.ImpersonationStarted, UserID: signIn.User.ID, SessionID: signIn.Session.ID, By: signIn.Actor.By()}
}

// open returns the SignIn for a link that was used up. It stores nothing: see
// storeActing. It returns ErrNoToken if the administrator's session is not alive,
// ErrEnded if the user was signed out since the link was made, and a Suspended for a
// suspended user. The session ends with that of the administrator, and after Max at the
// latest. s is the store of the transaction.
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

// storeActing stores the session that open has made. If the store does not keep the
// administrator with the session, storeActing deletes the session and returns an error.
// It does the same if the session takes part in no transaction and something has ended it
// meanwhile. With a nil plan it does nothing.
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

// confirmActor reads the stored session back and takes over its ID. It returns an error
// if the row does not name the administrator: the session would be the user's own.
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

// Check returns ErrNoToken unless the session of an administrator is alive. A stored
// session is alive if it is of this tenant, is not one in which the administrator acts as
// a user, and if neither its expiry, nor a suspension, nor the provider has ended it. A
// JWT session is alive if it was not revoked. s is the store of the transaction that this
// is part of. For JWT sessions it may be nil. Any other error is that of the store.
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
