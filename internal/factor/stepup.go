package factor

import (
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// Maximum by which the clocks of two servers may differ.
const clockLeeway = time.Minute

// IsRecent reports whether a proof at the time at is at most d old. A zero at is
// unknown, and one that is more than a minute in the future was written by a clock
// that was set back since: neither is recent.
func IsRecent(at, now time.Time, d time.Duration) bool {
	return !at.IsZero() && now.Sub(at) <= d && at.Sub(now) <= clockLeeway
}

// Again returns the words for what is proven after one more proof in a session. The words in
// more come last, so that [Held.ByFactor] knows the newest proof. If amr has another proof,
// Again then adds [Multiple], unless amr has all words in more and none of these is [Email].
// Again does not change amr.
func Again(amr, more []string) []string {
	former := slices.DeleteFunc(slices.Clone(amr), func(word string) bool { return slices.Contains(more, word) })
	all := append(former, more...)
	adds := func(word string) bool { return word == Email || !slices.Contains(amr, word) }
	if !slices.Contains(all, Multiple) && isFactor(former) && isFactor(more) && slices.ContainsFunc(more, adds) {
		all = append(all, Multiple)
	}
	return all
}

// Raised returns what a session has proven after one more proof, and its level. amr and level
// are those before. more and acr are those of the new proof. A trusted provider may state acr.
// The level never falls. If amr is empty, another server has checked a first proof of an
// unknown kind. Beside a code of an app or a recovery code it counts as [Federated]. A mail or
// a passkey may be that same proof, and counts alone.
func Raised(amr []string, level string, more []string, acr string) (all []string, to string) {
	if len(amr) == 0 && (slices.Contains(more, OTP) || slices.Contains(more, Recovery)) {
		amr = []string{Federated}
	}
	all = Again(amr, more)
	if level == AAL2 || acr == AAL2 || Level(all) == AAL2 {
		return all, AAL2
	}
	return all, AAL1
}

// ByFactor reports whether the newest proof of a session, the last word of amr, was one
// of the user's second factors. A mailed code is one only if it came after another proof
// and the user has nothing stronger: a mailbox does not stand for an app or a passkey.
func (h *Held) ByFactor(amr []string) bool {
	words := slices.DeleteFunc(slices.Clone(amr), func(word string) bool { return word == Present || word == Multiple })
	if len(words) == 0 {
		return false
	}
	switch words[len(words)-1] {
	case OTP, Recovery:
		return true
	case Hardware, Software:
		return len(h.Passkeys) > 0
	case Email:
		return len(words) > 1 && h.Has(storage.FactorEmail) && !h.Has(storage.FactorTOTP) && !h.Has(storage.FactorPasskey)
	}
	return false
}

// isOtherFirst reports whether a word is for a first proof that is no mail.
func isOtherFirst(word string) bool {
	return word == Password || word == Federated || word == Hardware || word == Software
}

// Provable returns the kinds that the user can prove in a session, the strongest first.
// If a mail has opened the session, a mailed code is no second factor in it. Neither is a
// passkey if one without user verification is all that was proven.
func (h *Held) Provable(offered []storage.FactorKind, amr []string) []storage.FactorKind {
	var first []string
	if slices.Contains(amr, Email) && !slices.ContainsFunc(amr, isOtherFirst) {
		first = []string{Email}
	} else if !slices.Contains(amr, Present) && !isBeside(amr, Hardware, Software) {
		first = amr
	}
	return h.Kinds(offered, first)
}

// Assured is what a session says of the proofs of its user.
type Assured struct {
	Proved time.Time // the latest one; zero: unknown
	AMR    []string
	ACR    string
}

// Wanted is a proof that a guard asks for.
type Wanted struct {
	Within time.Duration        // the latest proof is at most so old; zero or negative: none is; with IsFactor it may be of any age
	Kinds  []storage.FactorKind // with IsFactor: one of these was proven; none: the session is of AAL2

	IsFactor bool
}

// IsMet reports whether a session has what is wanted.
func (w *Wanted) IsMet(a Assured, now time.Time) bool {
	if w.IsFactor {
		return Meets(a.AMR, a.ACR, w.Kinds...)
	}
	return w.Within > 0 && IsRecent(a.Proved, now, w.Within)
}
