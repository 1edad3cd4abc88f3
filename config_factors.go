package latchkey

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/storage"
)

// Factors switches second factors on. The zero value is off. They need an Adapter
// that is a [storage.FactorAdapter], a [storage.ChallengeAdapter] and a
// [storage.BrowserAdapter], and a [storage.RevocationStore], which is the Adapter or
// [SessionConfig].Revocations. Stored sessions also need a [storage.SessionListAdapter].
// FactorEmail and RecoveryDelay need a way to send mails, which is [Config].Mail or an
// [Email] provider.
//
// A user with a factor is asked for it at every sign-in, whatever the provider, unless one
// of these is true:
//
//   - the first proof counts as two factors;
//   - Require returns [FactorNone];
//   - the browser is remembered: see Remember.
//
// Until the factor is right there is no session, and nothing is written about the user.
type Factors struct {
	// Kinds are the kinds that users can have, in the order shown. FactorRecovery needs
	// another kind beside it, and FactorPasskey a [WebAuthn] provider. Empty: second
	// factors are off.
	Kinds  []FactorKind
	Issuer string // the site's name in authenticator apps; empty: Theme.Name, else the host

	// Skew is how many steps of 30 seconds the clock of a user's device may be off, in
	// each direction. 0: 1; at most 2, and 1 when Hardened; negative: none.
	Skew int

	// Require decides whether a sign-in needs a second factor, and whether users may remove
	// their last one. FactorRequired refuses the removal; an error refuses either. nil: users
	// who have a factor are asked for it, and may remove it.
	Require func(ctx context.Context, q FactorQuestion) (FactorDemand, error)

	Recent   time.Duration // how recent a proof has to be for changes of factors, and where other comments name Recent; 0: 10 minutes
	Pending  time.Duration // how long a sign-in waits for the factor; 0: 10 minutes, at most an hour
	Remember time.Duration // how long a browser is remembered whose user asks for it; 0: 30 days; negative: never

	// RecoveryDelay is how long users who have lost every factor wait until they can remove
	// them all. Users ask for it at a sign-in, after a right first factor. A mail at once
	// and one half-way have a link that stops it, and the mail after the delay one that removes
	// them. Requests to the routes and [Auth.Sweep] send these later mails. 0: off; else 24
	// hours to 30 days.
	RecoveryDelay time.Duration
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

// FactorQuestion is what [Factors].Require decides about: a sign-in whose first factor was
// right, or, with an empty Profile and Enrolled, the removal of a user's last factor.
type FactorQuestion struct {
	_ [0]func() // not comparable; literals name their fields

	User     User // stored, created by the sign-in with an ID that the Adapter may replace, or of Credentials.Authorize
	Account  Account
	Profile  Claims           // what an OAuth provider said; nil: other kinds
	Enrolled []storage.Factor // without secrets; passkeys are not listed here
	IsNew    bool             // the sign-in creates the user
	Request  *Request
	Proven   Assurance // by the first factor
}

// FactorNeed says whether a sign-in needs a second factor. The zero value is
// FactorIfEnrolled.
type FactorNeed int

// The values of [FactorNeed].
const (
	FactorIfEnrolled = FactorNeed(factor.IfEnrolled) // users who have one are asked for it
	FactorRequired   = FactorNeed(factor.Required)   // every user is asked; users without one set up an authenticator app first
	FactorNone       = FactorNeed(factor.None)       // no user is asked, not even one who has a factor
)

// FactorDemand is what a site asks of a sign-in.
type FactorDemand struct {
	Need FactorNeed
	// Kinds are the kinds that are accepted. Empty: all of Factors.Kinds. Unless Need is
	// FactorNone, a user who only has factors of other kinds is refused. With FactorRequired,
	// after Until, a user without a factor is refused unless FactorTOTP is accepted.
	// If none of Kinds is in Factors.Kinds, every sign-in is refused.
	Kinds []FactorKind
	Until time.Time // with FactorRequired: until then users without a factor are signed in, and reminded
}

// freshSignIn is how old the latest proof of identity may be for changes of sign-in methods
// and for deleting the account, if [Factors].Recent is zero. A stolen session must not be
// enough to take over the account (ASVS 7.5.1).
const freshSignIn = 10 * time.Minute

// isOn reports whether second factors are configured.
func (f *Factors) isOn() bool { return len(f.Kinds) > 0 }
