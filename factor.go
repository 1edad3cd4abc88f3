package latchkey

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/otp"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
	"github.com/latchkeyhq/latchkey/internal/texts"
	"github.com/latchkeyhq/latchkey/storage"
)

// Factors switches second factors on. The zero value is off. They need an Adapter
// that is a [storage.FactorAdapter], a [storage.ChallengeAdapter] and a
// [storage.BrowserAdapter], and a place for the instant at which the sessions of a
// user ended: see [SessionConfig].Revocations.
//
// A user with a factor is asked for it at every sign-in, whatever the provider.
// Until it is right there is no session, and nothing is written about the user.
type Factors struct {
	Kinds  []FactorKind // that users can have, in the order shown; empty: off
	Issuer string       // the site's name in authenticator apps; empty: Theme.Name, else the host

	// Skew is how many steps of 30 seconds the clock of a user's device may be off, in
	// each direction. 0: 1; at most 2; negative: none.
	Skew int

	// Require decides whether a sign-in needs a second factor. An error refuses the
	// sign-in. nil: users who have a factor use it. It may be called by many goroutines
	// at once.
	Require func(ctx context.Context, q FactorQuestion) (FactorDemand, error)

	Recent   time.Duration // how recent a proof has to be for changes of factors; 0: 10 minutes
	Pending  time.Duration // how long a sign-in waits for the factor; 0: 10 minutes, at most an hour
	Remember time.Duration // how long a browser is remembered whose user asks for it; 0: 30 days; negative: never
}

// FactorKind is a kind of second factor.
type FactorKind = storage.FactorKind

// The kinds of second factor.
const (
	FactorTOTP     = storage.FactorTOTP     // codes of an authenticator app (RFC 6238)
	FactorPasskey  = storage.FactorPasskey  // a passkey of the user
	FactorEmail    = storage.FactorEmail    // codes mailed to the proven address
	FactorRecovery = storage.FactorRecovery // recovery codes, kept beside another factor
)

// FactorQuestion is the sign-in that [Factors].Require decides about. Its first
// factor was right.
type FactorQuestion struct {
	_ [0]func() // not comparable; literals name their fields

	User     User // the stored user, or the one that is created
	Account  Account
	Profile  Claims
	Enrolled []storage.Factor // without secrets; a passkey counts by itself
	IsNew    bool             // the sign-in creates the user
	Request  *Request
	Proven   Assurance // by the first factor
}

// FactorNeed says whether a sign-in needs a second factor.
type FactorNeed int

// The values of [FactorNeed].
const (
	FactorIfEnrolled = FactorNeed(factor.IfEnrolled) // users who have one use it
	FactorRequired   = FactorNeed(factor.Required)   // users without one set up an authenticator app first
	FactorNone       = FactorNeed(factor.None)
)

// FactorDemand is what a site asks of a sign-in.
type FactorDemand struct {
	Need  FactorNeed
	Kinds []FactorKind // that will do; empty: all of Factors.Kinds
	Until time.Time    // with FactorRequired: until then users without one come in, and are reminded
}

const (
	defaultPending  = 10 * time.Minute
	longestPending  = time.Hour
	defaultRemember = 30 * 24 * time.Hour
)

// isOn reports whether second factors are configured.
func (f *Factors) isOn() bool { return len(f.Kinds) > 0 }

// prepareFactors checks the configuration of second factors.
func (s *setup) prepareFactors(f *failure.List) {
	c := &s.config.Factors
	if !c.isOn() {
		return
	}
	for _, kind := range c.Kinds {
		if !slices.Contains([]FactorKind{FactorTOTP, FactorPasskey, FactorEmail, FactorRecovery}, kind) {
			f.Add(ErrInvalidConfig, "Factors.Kinds: %q is no kind; want FactorTOTP, FactorPasskey, FactorEmail or FactorRecovery", kind)
		}
	}
	if !slices.ContainsFunc(c.Kinds, func(k FactorKind) bool { return k != FactorRecovery }) {
		f.Add(ErrInvalidConfig, "Factors.Kinds: recovery codes exist only beside another kind; add FactorTOTP")
	}
	if c.Skew > otp.MostSkew || c.Skew == otp.MostSkew && s.config.Hardened {
		f.Add(ErrInvalidConfig, "Factors.Skew is %d: want at most 2, and 1 when Hardened", c.Skew)
	}
	if c.Recent < 0 || c.Pending < 0 || c.Pending > longestPending {
		f.Add(ErrInvalidConfig, "Factors: want Recent and Pending of zero or more, and Pending of at most an hour")
	}
	if s.revocations == nil || s.revocations.Store == nil {
		f.Add(ErrMissingAdapterMethods, "Factors need a place for the instant at which the sessions of a user ended: an Adapter that is a RevocationStore, or Session.Revocations")
	}
	fill.Default(&c.Skew, 1)
	fill.Default(&c.Recent, freshSignIn)
	fill.Default(&c.Pending, defaultPending)
	fill.Default(&c.Remember, defaultRemember)
	if s.directory == nil {
		return
	}
	s.directory.OfferFactors(directory.Factors{Kinds: c.Kinds, Skew: c.Skew, Issuer: cmp.Or(c.Issuer, s.config.Theme.Name, hostOf(s.config.Site.URL))}, s.config.Secrets, s.tenant)
	s.pause = demandFactor
	if slices.Contains(c.Kinds, FactorEmail) {
		s.mails.need(f, "Factors with FactorEmail")
	}
}

// issuer returns the site's name in authenticator apps.
func (s *setup) issuer(l *links) string { return cmp.Or(s.directory.Factors.Issuer, l.origin.Host()) }

// hostOf returns the host of a URL, or "".
func hostOf(site string) string {
	u, err := url.Parse(site)
	if err != nil {
		return ""
	}
	return u.Host
}

// demandFactor is the gate that every sign-in goes through. It returns a response
// that asks for the second factor, or nil if none is needed. It writes into the
// assertion what is proven.
func demandFactor(ctx context.Context, x *exchange, in *directory.Assertion, known *User) (*Response, error) {
	s := x.setup
	firstProof(in)
	user, held, err := s.heldBy(ctx, in, known)
	if err != nil {
		return nil, failure.Wrap(ErrAccessDenied, err)
	}
	demand, err := s.askPolicy(ctx, &x.visit, in, user, held)
	if err != nil {
		return nil, failure.Wrap(ErrAccessDenied, err)
	}
	q := factor.Question{Offered: s.config.Factors.Kinds, Held: held, Demand: demand, AMR: in.AMR, ACR: in.ACR, Now: s.now()}
	outcome, kinds := q.Decide()
	isEnrol := outcome == factor.Enrol
	switch {
	case outcome == factor.Enter:
		return nil, nil
	case outcome == factor.Remind:
		x.callbackURL = x.url("factor?do=later")
		return nil, nil
	case outcome == factor.Ask:
		trusted, err := s.directory.IsTrusted(ctx, x.cookies.Known(s.tenant, s.now()).Handle, user.ID)
		if err != nil {
			return nil, failure.Wrap(ErrAccessDenied, err)
		}
		if trusted {
			in.AMR = factor.Join(in.AMR, []string{factor.Browser})
			return nil, nil
		}
	case !isEnrol:
		return nil, failure.Wrap(ErrAccessDenied, errors.New("Factors.Require wants a second factor that the user does not have and cannot set up now"))
	case user == &in.Person && in.Vouched:
		return nil, failure.Wrap(ErrAccessDenied, errors.New("Factors.Require wants a second factor of a user whom the Adapter does not have: create the user first"))
	}
	return suspend(ctx, x, in, user, kinds, isEnrol)
}

// firstProof writes what the first factor proves into an assertion.
func firstProof(in *directory.Assertion) {
	if in.AMR == nil {
		in.AMR = factor.First(in.Account.Type, nil)
	}
	if in.ProvesEmail && !slices.Contains(in.AMR, factor.Email) {
		in.AMR = append(in.AMR, factor.Email)
	}
	if in.ACR = cmp.Or(in.ACR, factor.Level(in.AMR)); in.Account.Type == TypeCredentials && slices.Contains(in.AMR, factor.Multiple) {
		in.ACR = factor.AAL2 // the application has asked for both
	}
}

// heldBy returns the user that a sign-in ends in, and the user's factors. For a user
// whom the store does not have it returns in.Person.
func (s *setup) heldBy(ctx context.Context, in *directory.Assertion, known *User) (*User, *factor.Held, error) {
	if in.Vouched && known == nil {
		stored, err := guarded.Optional(s.store.User(ctx, in.Person.ID))
		if err != nil {
			return nil, nil, err
		}
		known = stored
	}
	if known == nil {
		return &in.Person, &factor.Held{}, nil
	}
	held, err := s.directory.Held(ctx, s.store, known)
	return known, held, err
}

// askPolicy asks the application.
func (s *setup) askPolicy(ctx context.Context, v *visit, in *directory.Assertion, user *User, held *factor.Held) (factor.Demand, error) {
	own := s.config.Factors.Require
	if own == nil {
		return factor.Demand{}, nil
	}
	q := FactorQuestion{
		User: *user, Account: in.Account, Profile: in.Profile, IsNew: user == &in.Person && !in.Vouched, Request: v.request,
		Proven: Assurance{AuthTime: in.Started, Proved: laterOf(in.Proved, in.Started), AMR: slices.Clone(in.AMR), ACR: in.ACR},
	}
	for _, f := range held.Rows {
		f.Secret = ""
		q.Enrolled = append(q.Enrolled, f)
	}
	d, err := hook(ctx, s, "Factors.Require", func(ctx context.Context) (FactorDemand, error) { return own(ctx, q) })
	return factor.Demand{Need: factor.Need(d.Need), Kinds: d.Kinds, Until: d.Until}, err
}

// suspend keeps a sign-in until its second factor is right, and leads the browser to
// the page that asks for it.
func suspend(ctx context.Context, x *exchange, in *directory.Assertion, user *User, kinds []FactorKind, isEnrol bool) (*Response, error) {
	s := x.setup
	if in.BegunIn == nil && !in.Vouched && !in.ProvesEmail { // the user who is signed in now has begun it, and has to end it
		here, err := s.sessions.current(ctx, &x.visit)
		if err != nil {
			return nil, err
		}
		in.BegunIn = &sessionref.Ref{}
		if here != nil {
			mark := here.mark()
			in.BegunIn, in.BegunFresh = &mark, x.isFresh(here)
		}
	}
	if in.Issued.IsZero() {
		in.Issued, in.IssuedHere = in.Started, true
	}
	p := &directory.Pending{Assertion: *in, CallbackURL: x.callbackURL, Process: s.mark.newID(), Kinds: kinds, Name: texts.Cut(nameOf(user), 256)}
	if user != &in.Person {
		p.UserID = user.ID
	}
	if isEnrol {
		p.Secret, p.Account = otp.NewSecret(), p.Name
	}
	if former := x.cookies.Half(s.tenant, x.now()); former != "" {
		if err := s.directory.Forget(ctx, former); err != nil {
			return nil, err
		}
	}
	handle, err := s.directory.Suspend(ctx, &x.events, p, s.config.Factors.Pending)
	if err == nil {
		x.hide(handle)
		err = x.cookies.PutHalf(handle, s.tenant, x.now(), s.config.Factors.Pending)
	}
	if err != nil {
		return nil, err
	}
	s.log.Info(ctx, x, "second factor wanted", "user", p.UserID)
	return &Response{Redirect: x.url("factor")}, nil
}

// resume completes a sign-in whose second factor was right. amr is what that proves.
func resume(ctx context.Context, x *exchange, p *directory.Pending, second *directory.Second, amr []string, started time.Time) (*Response, error) {
	in := p.Assertion
	if x.provider = x.setup.providers[in.Account.Provider]; x.provider == nil {
		return nil, failure.Wrap(ErrAccessDenied, errors.New("the provider of the first factor is not configured any more"))
	}
	in.AMR = factor.Join(in.AMR, amr)
	if level := factor.Level(in.AMR); level == factor.AAL2 {
		in.ACR = level
	}
	in.Second, in.Started, in.Proved = second, started, started
	in.IssuedHere = in.IssuedHere && x.setup.mark.isIn(p.Process)
	x.callbackURL = p.CallbackURL
	res, err := x.admit(ctx, in)
	if errors.Is(err, directory.ErrUserChanged) {
		return nil, failure.Wrap(ErrAccessDenied, err)
	}
	if err == nil {
		x.cookies.EndHalf()
	}
	return res, err
}
