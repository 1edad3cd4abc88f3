package directory

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// Factors are the second factors of a site.
type Factors struct {
	*Directory

	Kinds  []storage.FactorKind // that users can have
	Issuer string               // the site's name in authenticator apps
	Skew   int                  // steps that clocks may be off; negative: none
	Delay  time.Duration        // after which lost factors can be removed; 0: never
	sealer *factor.Sealer
}

// OfferFactors has the site of d offer the second factors f, and keep challenges as
// [KeepChallenges] does. It sets d.Factors to a copy of f. secrets has the secret in use
// first, and then older ones. tenant is empty if there is one site.
func OfferFactors(d *Directory, f Factors, secrets []string, tenant string) {
	f.Directory, f.sealer = d, factor.NewSealer(secrets)
	d.Factors = &f
	KeepChallenges(d, secrets, tenant)
}

// offers reports whether users can have factors of a kind.
func (d *Factors) offers(kind storage.FactorKind) bool { return slices.Contains(d.Kinds, kind) }

// Proof is what a user has proven of their identity.
type Proof struct {
	AMR []string
	ACR string
	At  time.Time

	AtProvider *AtProvider // what the provider that was asked calls the session there; nil: no logout is configured, or none was asked
}

// Proof returns what the sign-in has proven. Its time is Proved, or begun if Proved is
// zero. A Proved that a provider has stated may be older than begun. With a second factor
// the time is never older than begun, so that an earlier end of the user's sessions does
// not void it.
func (signIn *SignIn) Proof() Proof {
	at := signIn.Proved
	if at.IsZero() || signIn.Second != nil && signIn.begun.After(at) {
		at = signIn.begun
	}
	return Proof{AMR: signIn.AMR, ACR: signIn.ACR, At: at}
}

// Held returns the factors of a user.
func (d *Factors) Held(ctx context.Context, s *Store, u *storage.User) (*factor.Held, error) {
	rows, err := s.Factors().List(ctx, u.ID)
	if err != nil {
		return nil, err
	}
	held := &factor.Held{Rows: rows, HasMail: u.Email != "" && !u.EmailVerified.IsZero()}
	held.Passkeys, err = s.ListAuthenticators(ctx, u.ID)
	return held, err
}

var (
	// ErrWrongProof reports a second factor that was used before, a wrong recovery code, or a
	// wrong code of an app that could not be counted.
	ErrWrongProof = errors.New("the code is wrong, or was used before")

	// ErrNotPending reports that nothing waits for a second factor: it was completed,
	// cancelled, or has expired.
	ErrNotPending = errors.New("no sign-in waits for this")

	// ErrUserChanged reports that the user of a sign-in is gone, or another one, since
	// the first factor was proven.
	ErrUserChanged = errors.New("the user has changed since the first proof")
)

// Second is a right second factor. The transaction that completes the sign-in uses it
// up, together with the challenge.
type Second struct {
	Handle string // of the pending sign-in
	UserID string // of the user that it is about; empty: the sign-in creates one

	App      *factor.Hit // a code of an app
	Recovery string      // the hash of a recovery code; empty: another proof
	Mail     string      // the handle of the mailed code; empty: another proof
	Enrol    *NewApp     // an app that the user enrols; nil: another proof
	Kind     storage.FactorKind
	AMR      []string // what it proves to a sign-in, in the words of RFC 8176

	Remember bool // the browser is remembered

	Left  int      // set with Recovery: how many codes are left
	Codes []string // set with Enrol: the new recovery codes

	spent bool // in a store without transactions
}

// NewApp is an authenticator app whose first code was right.
type NewApp struct {
	Name   string
	Secret []byte
	Step   int64 // of that code
}

// spendSecond uses up the second factor of a sign-in and the challenge that waited for
// it, with the user locked. It does nothing if the sign-in has no second factor or,
// without transactions, if it has tried before. With transactions it takes the challenge
// first, so that a second request with the same answer gets ErrNotPending and not
// ErrWrongProof. Without transactions it uses the code up first: a fault must not leave a code
// that works again. Either error means that a concurrent request was faster, but ErrWrongProof
// also that a recovery code is wrong. If the user is gone, the error is ErrUserChanged.
func spendSecond(ctx context.Context, d *Factors, q *Outbox, s *Store, signIn *SignIn) error {
	in := signIn.Second
	if in == nil || in.spent {
		return nil
	}
	in.spent = s.Tx == nil
	if in.UserID != "" {
		if _, err := signIn.lock(ctx, s, in.UserID); errors.Is(err, storage.ErrNotFound) {
			return ErrUserChanged
		} else if err != nil {
			return err
		}
	}
	if s.Tx != nil {
		if err := takePending(ctx, d, s, in); err != nil {
			return err
		}
		return useProof(ctx, d, q, s, in)
	}
	if err := useProof(ctx, d, q, s, in); err != nil {
		return err
	}
	return takePending(ctx, d, s, in)
}

// takePending removes a sign-in that waits for its second factor. It returns
// ErrNotPending if it does not wait any more.
func takePending(ctx context.Context, d *Factors, s *Store, in *Second) error {
	_, err := d.Waiting(s).Take(ctx, challenge.SignIn, in.Handle)
	if errors.Is(err, storage.ErrNotFound) {
		return ErrNotPending
	}
	return err
}

// useProof uses up the code of a proof. It returns ErrWrongProof if the code was used
// before, and for a recovery code also if it is wrong. It adds the event FactorUsed and
// stops a removal of lost factors, unless the proof enrols an app. For a recovery code it
// also sets in.Left, adds the event RecoveryUsed and takes the trust of the user's
// browsers away.
func useProof(ctx context.Context, d *Factors, q *Outbox, s *Store, in *Second) (err error) {
	switch {
	case in.App != nil:
		err = s.Factors().Use(ctx, in.App.Factor.ID, in.App.Step, in.App.Secret, d.Now().UTC())
	case in.Recovery != "":
		in.Left, err = s.Factors().UseRecoveryCode(ctx, in.UserID, in.Recovery)
		if err == nil {
			q.Add(event.Event{Type: event.RecoveryUsed, UserID: in.UserID}, nil)
			err = d.browsers(s).Distrust(ctx, in.UserID)
		}
	case in.Mail != "":
		_, err = d.Waiting(s).Take(ctx, challenge.Code, in.Mail)
	}
	if errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrNotFound) {
		return ErrWrongProof
	}
	if err == nil && in.Enrol == nil {
		q.Add(event.Event{Type: event.FactorUsed, UserID: in.UserID}, nil)
		err = d.StopLostOf(ctx, q, s, in.UserID)
	}
	return err
}

// browsers returns the known browsers of the site in a store.
func (d *Factors) browsers(s *Store) *factor.Browsers {
	return &factor.Browsers{Store: s.Browsers(), Tenant: d.Tenant, Now: d.Now}
}

// enrolSecond stores the app that the user of a sign-in has enrolled, and sets in.Codes
// of the second factor to new recovery codes. Unless the user is new, all sessions of the
// user end, and the sign-in counts from after that. It does nothing if the sign-in enrols
// no app.
func enrolSecond(ctx context.Context, d *Factors, q *Outbox, s *Store, signIn *SignIn) error {
	in := signIn.Second
	if in == nil || in.Enrol == nil {
		return nil
	}
	held := &factor.Held{}
	var err error
	if !signIn.IsNew {
		if held, err = d.Held(ctx, s, &signIn.User); err != nil {
			return err
		}
	}
	if in.Codes, err = addApp(ctx, d, q, s, signIn.User.ID, held, in.Enrol); err != nil || signIn.IsNew {
		return err
	}
	ended, err := d.endAll(ctx, q, s, signIn.User.ID, "")
	if err == nil && !signIn.begun.After(ended) {
		signIn.begun = ended.Add(time.Millisecond)
	}
	return err
}

// addApp stores an app with the step of its first code, so that this code does not work
// again. It returns new recovery codes if this is the user's first factor and the site
// offers them. It returns ErrTooManyApps if the user has five. It adds the event
// FactorAdded, and the user need not prove the mailbox any more: see
// [Factors.EnrolsByMail].
func addApp(ctx context.Context, d *Factors, q *Outbox, s *Store, userID string, held *factor.Held, app *NewApp) (codes []string, err error) {
	if len(held.Apps()) >= factor.MostApps {
		return nil, ErrTooManyApps
	}
	now := d.Now().UTC()
	f := storage.Factor{ID: secret.RandomHex(16), UserID: userID, Kind: storage.FactorTOTP, Name: app.Name, Step: app.Step, Created: now, Used: now}
	if f.Secret, err = d.sealer.Seal(&f, app.Secret); err != nil {
		return nil, err
	}
	return addFactor(ctx, d, q, s, held, f)
}

// addFactor stores f for a user with the factors held, and returns new codes as addApp does.
func addFactor(ctx context.Context, d *Factors, q *Outbox, s *Store, held *factor.Held, f storage.Factor) (codes []string, err error) {
	if err := s.Factors().Create(ctx, f); err != nil {
		return nil, err
	}
	q.Add(event.Event{Type: event.FactorAdded, UserID: f.UserID}, nil)
	if err := d.Waiting(s).End(ctx, challenge.Cleared, f.UserID); err != nil {
		return nil, err
	}
	if len(held.Rows) > 0 || !d.offers(storage.FactorRecovery) {
		return nil, nil
	}
	return makeCodes(ctx, d, s, f.UserID)
}

// makeCodes replaces the recovery codes of a user and returns the new ones. If a change
// of the user's address can be undone, it records that new codes were made, so that the
// undo removes them.
func makeCodes(ctx context.Context, d *Factors, s *Store, userID string) ([]string, error) {
	codes, rows := factor.NewRecoveryCodes(), d.Waiting(s)
	moves, err := rows.List(ctx, challenge.Moved, userID, "")
	if err == nil && len(moves) > 0 {
		err = rows.End(ctx, challenge.Recodes, userID)
	}
	if err == nil && len(moves) > 0 {
		_, err = rows.Create(ctx, challenge.Draft{Purpose: challenge.Recodes, Handle: userID, UserID: userID, Life: movedLife})
	}
	if err != nil {
		return nil, err
	}
	return codes, s.Factors().ReplaceRecoveryCodes(ctx, userID, factor.RecoveryHashes(userID, codes))
}

// ErrTooManyApps reports that a user has as many authenticator apps as can be.
var ErrTooManyApps = failure.Wrap(fault.ErrFactor, failure.Of(fault.FactorFailed, errors.New("a user can have at most five authenticator apps")))

// IsTrusted reports whether the browser with a handle is remembered for a user, so
// that a sign-in needs no second factor.
func (d *Factors) IsTrusted(ctx context.Context, handle, userID string) (bool, error) {
	row, err := d.BrowserOf(ctx, handle, userID)
	return d.browsers(d.Store).IsTrusted(row), err
}

// BrowserOf returns what is known of the browser with a handle for a user. It returns nil
// if the browser is not known, if its row has expired or was made before the user's
// sessions were last ended, or if handle or userID is empty.
func (d *Factors) BrowserOf(ctx context.Context, handle, userID string) (*storage.Browser, error) {
	if handle == "" || userID == "" {
		return nil, nil
	}
	void, err := d.Revocations.userVoidAt(ctx, nil, userID)
	if err != nil {
		return nil, err
	}
	return d.browsers(d.Store).Get(ctx, handle, userID, void)
}

// RememberSignIn makes the browser with a handle known for a user after a sign-in there,
// and returns the browser's new handle; empty: the old one stays. at is from when the
// sign-in counts. trusted is until when sign-ins there need no second factor. A zero
// trusted leaves the browser trusted as long as before. For any other, RememberSignIn
// adds the event BrowserTrusted once the browser is stored.
func (d *Factors) RememberSignIn(ctx context.Context, q *Outbox, userID string, at time.Time, handle, agent string, trusted time.Time) (string, error) {
	known, err := d.BrowserOf(ctx, handle, userID)
	if err != nil {
		return "", err
	}
	if now := d.Now(); now.After(at) {
		at = now
	}
	next, err := keepBrowser(ctx, d.Directory, factor.BrowserSignIn{Handle: handle, UserID: userID, UserAgent: agent, Known: known, At: at, Trusted: trusted})
	if errors.Is(err, storage.ErrNotFound) { // the application alone knows the user
		return "", nil
	}
	if err == nil && next != "" && !trusted.IsZero() {
		q.Add(event.Event{Type: event.BrowserTrusted, UserID: userID}, nil)
	}
	return next, err
}

// TrustedBrowsers returns the browsers in which the user needs no second factor.
func (d *Factors) TrustedBrowsers(ctx context.Context, userID string) (trusted []storage.Browser, err error) {
	rows, err := d.Store.Browsers().List(ctx, userID)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	void, err := d.Revocations.userVoidAt(ctx, nil, userID)
	for _, row := range rows {
		if row.Created.After(void) && d.browsers(d.Store).IsTrusted(&row) {
			trusted = append(trusted, row)
		}
	}
	return trusted, err
}

// CanHaveCodes reports whether a user with these factors can have recovery codes.
func (d *Factors) CanHaveCodes(held *factor.Held) bool {
	return d.offers(storage.FactorRecovery) && held.Count(d.Kinds) > 0
}

// ForgetBrowser removes the known browser of a user with a public id, trusted or not, or
// all of them if publicID is empty. It returns ErrNotFound if there is no browser with
// that id. It adds the event BrowserForgot if it has removed any.
func (d *Factors) ForgetBrowser(ctx context.Context, q *Outbox, userID, publicID string) error {
	return forgetBrowser(ctx, d.Directory, q, userID, publicID)
}

// accountOf returns the name of a user in an authenticator app.
func accountOf(u *storage.User) string {
	for _, name := range []string{u.Email, u.Name} {
		if name != "" {
			return name
		}
	}
	return u.ID
}
