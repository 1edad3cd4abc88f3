package latchkey

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/passkey"
)

// webauthnProvider is a WebAuthn made ready.
type webauthnProvider struct {
	WebAuthn
	setup *setup
	about providerInfo
}

const ceremonyTimeout = 5 * time.Minute

// prepare returns a copy of p made ready, also with an error, which is that of faults.
func (p *WebAuthn) prepare(s *setup, _ func(string) string) (preparedProvider, error) {
	w := &webauthnProvider{WebAuthn: *p, setup: s}
	fill.Default(&w.ID, "webauthn")
	fill.Default(&w.Name, "WebAuthn")
	fill.Default(&w.Registration.Timeout, ceremonyTimeout)
	fill.Default(&w.Registration.UserVerification, passkey.Required)
	fill.Default(&w.Registration.ResidentKey, passkey.Preferred)
	fill.Default(&w.Registration.Attestation, "none")
	fill.Default(&w.Authentication.Timeout, ceremonyTimeout)
	fill.Default(&w.Authentication.UserVerification, passkey.Required)
	fill.Default(&w.ListCredentials, s.config.credentialList())
	w.Registration.Algorithms, w.Registration.Hints = slices.Clone(p.Registration.Algorithms), slices.Clone(p.Registration.Hints)
	w.Registration.Extensions, w.Authentication.Extensions = maps.Clone(p.Registration.Extensions), maps.Clone(p.Authentication.Extensions)
	w.Authentication.Hints = slices.Clone(p.Authentication.Hints)
	w.Fields = slices.Clone(p.Fields)
	if p.Fields == nil {
		w.Fields = []Field{{Name: "email", Type: "email", Autocomplete: "username webauthn"}}
		if w.SkipConditionalUI {
			w.Fields[0].Autocomplete = "username"
		}
	}
	given := p.Name
	if given == "Passkey" { // which package webauthn sets
		given = ""
	}
	w.about = providerInfo{
		id: w.ID, name: w.Name, given: given, kind: TypeWebAuthn, style: w.Style, fields: w.Fields, start: "callback/", provesNoEmail: true,
		needs: []directory.Ability{directory.AbilityAuthenticators, directory.AbilityAccountLists}, options: w.options, party: w.partyOf, offersWhileTyping: !w.SkipConditionalUI,
		signsUpByName: w.ListCredentials != passkey.ListKnown,
	}
	return w, w.faults(s)
}

// faults returns an error for each field that browsers or the library cannot make sense
// of, joined, or nil.
func (w *webauthnProvider) faults(s *setup) error {
	var all failure.List
	wrong := func(format string, args ...any) {
		all = append(all, failure.WrapFor(ErrInvalidProvider, w.ID, fmt.Errorf(format, args...)))
	}
	if w.Ceremony == nil {
		wrong("WebAuthn.Ceremony is nil: make the provider with webauthn.Passkey or webauthn.Provider of module webauthn")
	}
	if !w.SkipConditionalUI && !slices.ContainsFunc(w.Fields, takesPasskeys) {
		all = append(all, failure.WrapFor(ErrMissingWebAuthnAutocomplete, w.ID, errors.New(
			"give one of WebAuthn.Fields an Autocomplete with the word webauthn, or set SkipConditionalUI")))
	}
	r, a := &w.Registration, &w.Authentication
	for _, chosen := range []passkey.Requirement{r.UserVerification, r.ResidentKey, a.UserVerification} {
		if !slices.Contains([]passkey.Requirement{passkey.Required, passkey.Preferred, passkey.Discouraged}, chosen) {
			wrong("%q: want Required, Preferred or Discouraged", chosen)
		}
	}
	if !slices.Contains([]string{"", "platform", "cross-platform"}, r.Attachment) {
		wrong("WebAuthn.Registration.Attachment %q: want platform, cross-platform or nothing", r.Attachment)
	}
	if !slices.Contains([]string{"none", "indirect", "direct", "enterprise"}, r.Attestation) {
		wrong("WebAuthn.Registration.Attestation %q: want none, indirect, direct or enterprise", r.Attestation)
	}
	if !slices.Contains([]passkey.CredentialList{passkey.ListKnown, passkey.ListDecoys, passkey.ListNone}, w.ListCredentials) {
		wrong("WebAuthn.ListCredentials %q: want passkey.ListKnown, passkey.ListDecoys or ListNone", w.ListCredentials)
	}
	if r.Timeout < 0 || a.Timeout < 0 {
		wrong("WebAuthn: timeouts must not be negative; zero is 5 minutes")
	}
	return errors.Join(all...)
}

// takesPasskeys reports whether browsers offer passkeys in the field.
func takesPasskeys(f Field) bool {
	return slices.Contains(strings.Fields(f.Autocomplete), "webauthn")
}

func (w *webauthnProvider) info() *providerInfo { return &w.about }

// passkeyProvider returns the first provider of passkeys, whose passkeys are second
// factors; nil: none.
func passkeyProvider(s *setup) *webauthnProvider {
	for _, p := range s.order {
		if w, ok := p.(*webauthnProvider); ok {
			return w
		}
	}
	return nil
}
