// Package factor decides about second factors: which a user has, whether one is
// asked for, what a proof is worth, and how its secrets are kept. It also keeps the
// browsers that users have signed in from. It knows no request and no cookie.
package factor

import (
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

const (
	// MostApps is the number of authenticator apps that a user can have.
	MostApps = 5

	// MostTries is the number of wrong proofs that end a challenge.
	MostTries = 5

	// MostFailures is the number of consecutive wrong codes after which a factor takes
	// no code from an unknown browser.
	MostFailures = 100

	// MostPending is the number of half-finished sign-ins that a user can have.
	MostPending = 20
)

// Held are the factors of a user.
type Held struct {
	Rows     []storage.Factor
	Passkeys []storage.Authenticator
	HasMail  bool // the user has a proven e-mail address
}

// Apps returns the authenticator apps of the user.
func (h *Held) Apps() (apps []storage.Factor) {
	for _, f := range h.Rows {
		if f.Kind == storage.FactorTOTP {
			apps = append(apps, f)
		}
	}
	return apps
}

// KindOf returns the kind of the factor with an id, or "" if the user has no such factor.
func (h *Held) KindOf(id string) storage.FactorKind {
	for _, f := range h.Rows {
		if f.ID == id {
			return f.Kind
		}
	}
	return ""
}

// Mail returns the row that says that the user has chosen mailed codes, which count only
// while HasMail is true, or nil.
func (h *Held) Mail() *storage.Factor {
	if i := slices.IndexFunc(h.Rows, func(f storage.Factor) bool { return f.Kind == storage.FactorEmail }); i >= 0 {
		return &h.Rows[i]
	}
	return nil
}

// Has reports whether the user has a factor of a kind. For recovery codes it returns
// false. A factor of mailed codes counts only with a proven e-mail address.
func (h *Held) Has(kind storage.FactorKind) bool {
	switch kind {
	case storage.FactorPasskey:
		return len(h.Passkeys) > 0
	case storage.FactorTOTP:
		return len(h.Apps()) > 0
	case storage.FactorEmail:
		return h.HasMail && h.Mail() != nil
	}
	return false
}

// Count returns how many factors of the offered kinds the user has, recovery codes
// aside.
func (h *Held) Count(offered []storage.FactorKind) (n int) {
	if slices.Contains(offered, storage.FactorTOTP) {
		n += len(h.Apps())
	}
	if slices.Contains(offered, storage.FactorPasskey) {
		n += len(h.Passkeys)
	}
	if slices.Contains(offered, storage.FactorEmail) && h.Has(storage.FactorEmail) {
		n++
	}
	return n
}

// strength is the order in which factors are asked for.
var strength = []storage.FactorKind{storage.FactorPasskey, storage.FactorTOTP, storage.FactorEmail, storage.FactorRecovery}

// Kinds returns the offered kinds that the user can prove beside what amr says is proven, the
// strongest first. If amr has a mail or a passkey, that kind is no second factor. Recovery
// codes come last, and only beside another kind. Kinds does not look whether the user has
// any left.
func (h *Held) Kinds(offered []storage.FactorKind, amr []string) (kinds []storage.FactorKind) {
	for _, kind := range strength {
		if slices.Contains(offered, kind) && h.Has(kind) && !isUsedUp(kind, amr) {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) > 0 && slices.Contains(offered, storage.FactorRecovery) {
		kinds = append(kinds, storage.FactorRecovery)
	}
	return kinds
}

// isUsedUp reports whether the sign-in has used up a kind: its proof was the first one,
// and cannot be the second as well. An app and recovery codes are never used up.
func isUsedUp(kind storage.FactorKind, amr []string) bool {
	switch kind {
	case storage.FactorEmail:
		return slices.Contains(amr, Email)
	case storage.FactorPasskey:
		return hasPasskey(amr)
	}
	return false
}

// Need says whether a sign-in needs a second factor.
type Need int

const (
	IfEnrolled Need = iota // users who have one use it
	Required
	None
)

// Demand is what a site asks of one sign-in.
type Demand struct {
	Need  Need
	Kinds []storage.FactorKind // that will do; empty: all that are offered
	Until time.Time            // Required: until then users without one come in
}

// Outcome is what happens to a sign-in after its first proof was right.
type Outcome int

const (
	Refuse Outcome = iota // no factor that would do can be had
	Ask                   // for one of the kinds
	Enrol                 // the user first sets up an authenticator app
	Enter
	Remind // Enter, and the user should set up a factor soon
)

// Question is what is known of a sign-in when its second factor is decided about.
type Question struct {
	Offered []storage.FactorKind // by the site
	Held    *Held
	Demand  Demand
	AMR     []string // what is proven
	ACR     string   // AAL2: by a passkey with user verification, or a provider that is trusted with it
	Now     time.Time
}

// Decide returns what happens next, and for Ask the kinds that are asked for. It does
// not look at remembered browsers: for these the caller turns Ask into Enter.
func (q *Question) Decide() (Outcome, []storage.FactorKind) {
	accepted := q.accepted()
	if len(accepted) == 0 && len(q.Demand.Kinds) > 0 {
		return Refuse, nil
	}
	if q.Demand.Need == None || q.isMet() {
		return Enter, nil
	}
	kinds := q.Held.Kinds(accepted, q.AMR)
	switch {
	case len(kinds) > 0:
		return Ask, kinds
	case len(q.Held.Kinds(q.Offered, q.AMR)) > 0: // they have others, which a thief of the first proof has not
		return Refuse, nil
	case q.Demand.Need == IfEnrolled:
		return Enter, nil
	case q.Now.Before(q.Demand.Until):
		return Remind, nil
	case slices.Contains(accepted, storage.FactorTOTP):
		return Enrol, nil
	}
	return Refuse, nil
}

// accepted returns the offered kinds that Demand takes, whether the user has them or not.
// The caller does not change the result.
func (q *Question) accepted() []storage.FactorKind {
	if len(q.Demand.Kinds) == 0 {
		return q.Offered
	}
	return slices.DeleteFunc(slices.Clone(q.Offered), func(k storage.FactorKind) bool { return !slices.Contains(q.Demand.Kinds, k) })
}

// isMet reports whether the first proof alone meets Demand: its level is AAL2, and
// Demand names no kinds, or names passkeys and the proof was one.
func (q *Question) isMet() bool {
	if q.ACR != AAL2 {
		return false
	}
	return len(q.Demand.Kinds) == 0 || slices.Contains(q.Demand.Kinds, storage.FactorPasskey) && hasPasskey(q.AMR)
}
