package factor

import (
	"slices"

	"github.com/latchkeyhq/latchkey/storage"
)

// Words for what was proven: those of RFC 8176, and of ours.
const (
	Password  = "pwd"
	OTP       = "otp"
	Hardware  = "hwk"  // a passkey of a single device
	Software  = "swk"  // a passkey that devices share
	Present   = "user" // with user verification
	Multiple  = "mfa"
	Email     = "email"    // ours
	Recovery  = "recovery" // ours
	Federated = "fed"      // ours: a provider vouched
	Browser   = "browser"  // ours: the browser is remembered
)

// Levels of assurance. They are names, not a certificate.
const (
	AAL1 = "aal1"
	AAL2 = "aal2"
)

// hasPasskey reports whether a passkey of any type was proven.
func hasPasskey(amr []string) bool {
	return slices.Contains(amr, Hardware) || slices.Contains(amr, Software)
}

// First returns the words for a first proof by a kind of provider. For credentials these
// are a copy of own, or [Password] if own is empty. For passkeys First returns own
// itself. For e-mail the word is [Email], and for any other provider [Federated].
func First(kind storage.ProviderType, own []string) []string {
	switch kind {
	case storage.TypeCredentials:
		if len(own) > 0 {
			return slices.Clone(own)
		}
		return []string{Password}
	case storage.TypeEmail:
		return []string{Email}
	case storage.TypeWebAuthn:
		return own
	}
	return []string{Federated}
}

// OfPasskey returns the words for the use of a passkey. isVerified adds user
// verification.
func OfPasskey(key *storage.Authenticator, isVerified bool) []string {
	word := Hardware
	if key.BackedUp || key.DeviceType == "multiDevice" {
		word = Software
	}
	if isVerified {
		return []string{word, Present}
	}
	return []string{word}
}

// OfKind returns the word for a code of a kind, as a list. It returns nil for a passkey:
// see [OfPasskey].
func OfKind(kind storage.FactorKind) []string {
	switch kind {
	case storage.FactorTOTP:
		return []string{OTP}
	case storage.FactorEmail:
		return []string{Email}
	case storage.FactorRecovery:
		return []string{Recovery}
	}
	return nil
}

// Join returns the words of amr and then those of more, each once. It adds [Multiple] if
// amr tells of a factor and more of another: a passkey that is used once more, now with
// user verification, is one factor. It does not change amr.
func Join(amr, more []string) []string {
	all := slices.Clone(amr)
	for _, word := range more {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	if isFactor(amr) && isFactor(all[len(amr):]) && !slices.Contains(all, Multiple) {
		all = append(all, Multiple)
	}
	return all
}

// isFactor reports whether amr has a word for a proof. The words for user verification,
// for several factors and for a remembered browser alone are none.
func isFactor(amr []string) bool { return slices.ContainsFunc(amr, isProof) }

func isProof(word string) bool { return word != Browser && word != Present && word != Multiple }

// Level returns the level of assurance that the proofs reach, AAL1 or AAL2. A mailed
// code never raises it: a mail counts only if it was the first proof.
func Level(amr []string) string {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(amr, w) })
	}
	at := slices.IndexFunc(amr, isProof)
	first, second := has(Password, Federated) || at >= 0 && amr[at] == Email, has(OTP, Hardware, Software, Recovery)
	if first && second || hasPasskey(amr) && has(Present) {
		return AAL2
	}
	return AAL1
}

// Meets reports whether a session has proven one of the kinds beside another proof,
// whatever acr is. A passkey with user verification needs no other proof. A mailed code
// counts only if amr has [Multiple]. Without kinds, Meets reports whether acr is AAL2.
func Meets(amr []string, acr string, kinds ...storage.FactorKind) bool {
	if len(kinds) == 0 {
		return acr == AAL2
	}
	return slices.ContainsFunc(kinds, func(kind storage.FactorKind) bool {
		switch kind {
		case storage.FactorPasskey:
			return hasPasskey(amr) && (slices.Contains(amr, Present) || isBeside(amr, Hardware, Software))
		case storage.FactorEmail: // without mfa a mail has proven the address of a sign-up, or is the only proof
			return slices.Contains(amr, Multiple) && slices.Contains(amr, Email) && isBeside(amr, Email)
		}
		words := OfKind(kind)
		return len(words) > 0 && slices.Contains(amr, words[0]) && isBeside(amr, words...)
	})
}

// isBeside reports whether amr has a word for a proof beside words.
func isBeside(amr []string, words ...string) bool {
	return isFactor(slices.DeleteFunc(slices.Clone(amr), func(word string) bool { return slices.Contains(words, word) }))
}
