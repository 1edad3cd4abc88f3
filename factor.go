package latchkey

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/otp"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
	"github.com/latchkeyhq/latchkey/internal/texts"
)

const (
	defaultRecent   = 10 * time.Minute
	defaultPending  = 10 * time.Minute
	longestPending  = time.Hour
	defaultRemember = 30 * 24 * time.Hour
	shortestDelay   = 24 * time.Hour // of Factors.RecoveryDelay
	longestDelay    = 30 * 24 * time.Hour
)

// prepareFactors checks the configuration of second factors, and adds to f what is wrong
// with it. It fills in the defaults, and has demandFactor run in each sign-in. It does
// nothing if second factors are off.
func prepareFactors(s *setup, f *failure.List) {
	c := &s.config.Factors
	if !c.isOn() {
		return
	}
	for _, kind := range c.Kinds {
		if !slices.Contains([]FactorKind{FactorTOTP, FactorPasskey, FactorEmail, FactorRecovery}, kind) {
			f.Add(ErrInvalidConfig, "Factors.Kinds: %q is no kind; want FactorTOTP, FactorPasskey, FactorEmail or FactorRecovery", kind)
		}
	}
	if slices.Contains(c.Kinds, FactorPasskey) && !slices.ContainsFunc(s.order, func(p preparedProvider) bool { return p.info().kind == TypeWebAuthn }) {
		f.Add(ErrInvalidConfig, "Factors.Kinds has FactorPasskey, which no user could prove: add a WebAuthn provider to Providers, such as providers.Passkey of module webauthn, or leave the kind out")
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
	if c.RecoveryDelay != 0 && (c.RecoveryDelay < shortestDelay || c.RecoveryDelay > longestDelay) {
		f.Add(ErrInvalidConfig, "Factors.RecoveryDelay is %v: want 24h to 720h, or 0 for none", c.RecoveryDelay)
	}
	if s.revocations == nil || s.revocations.Store == nil {
		f.Add(ErrMissingAdapterMethods, "Factors need a place for the instant at which the sessions of a user ended: an Adapter that is a RevocationStore, or Session.Revocations")
	}
	fill.Default(&c.Skew, 1)
	fill.Default(&c.Recent, defaultRecent)
	fill.Default(&c.Pending, defaultPending)
	fill.Default(&c.Remember, defaultRemember)
	if !s.config.AccountPage.Enabled && s.config.Pages.Reauth == "" {
		s.log.WarnAtStart("Factors: no page lets users set up a factor, so that NeedFactor asks for what they cannot have: set AccountPage.Enabled, or Pages.Reauth to a page that leads to one of your own, which calls Users.BeginTOTP")
	}
	if s.directory == nil {
		return
	}
	directory.OfferFactors(s.directory, directory.Factors{Kinds: c.Kinds, Skew: c.Skew, Delay: c.RecoveryDelay, Issuer: cmp.Or(c.Issuer, s.config.Theme.Name, hostOf(s.config.Site.URL))}, s.config.Secrets, s.tenant)
	s.pause = demandFactor
	if slices.Contains(c.Kinds, FactorEmail) {
		s.mails.need(f, "Factors with FactorEmail")
	}
	if c.RecoveryDelay > 0 {
		s.mails.need(f, "Factors.RecoveryDelay")
	}
}

// factorNeeds returns the abilities that second factors need of the Adapter: none if they
// are off.
func factorNeeds(c *Config) []directory.Ability {
	if !c.Factors.isOn() {
		return nil
	}
	return append(endsSessions(c), directory.AbilityFactors, directory.AbilityChallenges, directory.AbilityBrowsers)
}

// issuer returns the site's name in authenticator apps.
func issuer(s *setup, l *links) string { return cmp.Or(s.directory.Factors.Issuer, l.origin.Host()) }

// hostOf returns the host of a URL, with its port, or "" for a malformed URL.
func hostOf(site string) string {
	u, err := url.Parse(site)
	if err != nil {
		return ""
	}
	return u.Host
}

// demandFactor returns a response that asks for the second factor of a sign-in, or nil if
// none is needed. On a site with second factors every sign-in goes through it. It writes
// into the assertion what is proven. If the user should set up a factor soon, it changes
// x.callbackURL to the page that says so. A sign-in by a passkey with user verification
// stops a pending removal of the user's factors. It returns an ErrAccessDenied if
// Factors.Require fails, or wants a factor that the user can neither prove nor set up
// now. Errors of the store come back as they are.
func demandFactor(ctx context.Context, x *exchange, in *directory.Assertion, known *User) (*Response, error) {
	s := x.setup
	firstProof(in)
	user, held, err := heldBy(s, ctx, in, known)
	if err != nil {
		return nil, err
	}
	demand, err := askPolicy(s, ctx, &x.visit, in, user, held)
	if err != nil {
		return nil, failure.Wrap(ErrAccessDenied, err)
	}
	q := factor.Question{Offered: s.config.Factors.Kinds, Held: held, Demand: demand, AMR: in.AMR, ACR: in.ACR, Now: s.now()}
	next, kinds := q.Decide()
	isEnrol := next == factor.Enrol
	if isEnrol && user != &in.Person && !slices.Contains(in.AMR, factor.Email) && s.mails.mail.Send != nil { // mails can be proven
		byMail, err := s.directory.Factors.EnrolsByMail(ctx, user)
		if err != nil {
			return nil, err
		}
		if byMail {
			kinds = []FactorKind{FactorEmail}
		}
	}
	switch {
	case next == factor.Enter && known != nil && shownByPasskey(in):
		return nil, s.directory.Factors.StopLostOf(ctx, &x.events, nil, known.ID)
	case next == factor.Enter:
		return nil, nil
	case next == factor.Remind:
		x.callbackURL = x.url("factor?do=later")
		return nil, nil
	case next == factor.Ask:
		trusted, err := s.directory.Factors.IsTrusted(ctx, x.cookies.Known(s.tenant, s.now()).ID, user.ID)
		if trusted {
			in.AMR = factor.Join(in.AMR, []string{factor.Browser})
		}
		if trusted || err != nil {
			return nil, err
		}
	case !isEnrol:
		return nil, failure.Wrap(ErrAccessDenied, failure.Of(fault.FactorRequired, errors.New("Factors.Require wants a second factor that the user does not have and cannot set up now")))
	case user == &in.Person && in.Vouched:
		return nil, failure.Wrap(ErrAccessDenied, failure.Of(fault.FactorRequired, errors.New("Factors.Require wants a second factor of a user whom the Adapter does not have: create the user first")))
	}
	return askForFactor(ctx, x, in, user, kinds, isEnrol)
}

// shownByPasskey reports whether a sign-in by a passkey has proven two factors, so that
// the user has not lost them.
func shownByPasskey(in *directory.Assertion) bool {
	return in.Account.Type == TypeWebAuthn && in.ACR == factor.AAL2
}

// firstProof sets AMR and ACR of an assertion to what the first factor proves.
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

// heldBy returns the user that a sign-in ends in, and the user's factors. known is the
// stored user, or nil if the caller has found none: heldBy then looks for a user that the
// application names. If the store does not have the user, heldBy returns the pointer
// &in.Person itself, which callers compare, and no factors.
func heldBy(s *setup, ctx context.Context, in *directory.Assertion, known *User) (*User, *factor.Held, error) {
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
	held, err := s.directory.Factors.Held(ctx, s.store, known)
	return known, held, err
}

// askPolicy returns what Factors.Require demands of a sign-in, or the zero Demand if
// there is no Require. The application gets the user's factors without their secrets.
func askPolicy(s *setup, ctx context.Context, v *visit, in *directory.Assertion, user *User, held *factor.Held) (factor.Demand, error) {
	own := s.config.Factors.Require
	if own == nil {
		return factor.Demand{}, nil
	}
	q := FactorQuestion{
		User: *user, Account: in.Account, Profile: in.Profile, IsNew: user == &in.Person && !in.Vouched, Request: v.request,
		Proven: Assurance{AuthTime: in.Started, Proved: provedOf(in), AMR: slices.Clone(in.AMR), ACR: in.ACR},
	}
	for _, f := range held.Rows {
		f.Secret = ""
		q.Enrolled = append(q.Enrolled, f)
	}
	d, err := hook(ctx, s, "Factors.Require", func(ctx context.Context) (FactorDemand, error) { return own(ctx, q) })
	return factor.Demand{Need: factor.Need(d.Need), Kinds: d.Kinds, Until: d.Until}, err
}

// provedOf returns when the user of a sign-in proved their identity: by a later proof, or
// else when the sign-in started.
func provedOf(in *directory.Assertion) time.Time {
	if in.Proved.IsZero() {
		return in.Started
	}
	return in.Proved
}

// askForFactor stores a sign-in until its second factor is right, and redirects the browser to
// the page that asks for one of kinds. With isEnrol the user sets up an authenticator app
// there instead, and proves one of kinds before that if there are any. It replaces another
// sign-in of this browser that waits. If in.BegunIn is nil and in.NamesUser is false,
// askForFactor sets in.BegunIn to the session of the request.
func askForFactor(ctx context.Context, x *exchange, in *directory.Assertion, user *User, kinds []FactorKind, isEnrol bool) (*Response, error) {
	s := x.setup
	if in.BegunIn == nil && !in.NamesUser() { // the user who is signed in now has begun it, and has to end it
		here, err := s.sessions.current(ctx, &x.visit)
		if err != nil {
			return nil, err
		}
		in.BegunIn = &sessionref.Ref{}
		if here != nil {
			mark := here.mark()
			in.BegunIn, in.BegunFresh = &mark, true // its age is looked at again in the end
		}
	}
	if in.Issued.IsZero() {
		in.Issued, in.IssuedHere = in.Started, true
	}
	p := &directory.Pending{Assertion: *in, CallbackURL: x.callbackURL, Process: s.mark.newID(), Kinds: kinds, Name: texts.Cut(nameOf(user), 256)}
	if user != &in.Person {
		p.UserID = user.ID
	}
	if p.Enrols = isEnrol && len(kinds) > 0; isEnrol && !p.Enrols {
		p.Secret, p.Account = otp.NewSecret(), p.Name
	}
	if former := x.cookies.Half(s.tenant, x.now()); former != "" {
		if err := s.directory.Factors.Forget(ctx, former); err != nil {
			return nil, err
		}
	}
	handle, err := s.directory.Factors.Suspend(ctx, &x.events, p, s.config.Factors.Pending)
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
