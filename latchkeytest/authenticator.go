package latchkeytest

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// What browsers refuse, by the names of their exceptions. [Authenticator.Create]
// and [Authenticator.Get] say in their errors which it was and why.
var (
	ErrNotAllowed   = errors.New("NotAllowedError")
	ErrInvalidState = errors.New("InvalidStateError")
	ErrNotSupported = errors.New("NotSupportedError")
	ErrSecurity     = errors.New("SecurityError")
	ErrType         = errors.New("TypeError")
)

// Authenticator keeps passkeys and makes what a browser sends of them: give it
// the options that a page would give to navigator.credentials, and post what it
// returns. It needs no browser and no network, and it does what browsers and
// good authenticators do (Web Authentication Level 3) until
// [Authenticator.Misbehave] says otherwise.
//
// With its zero fields it is what most people have: one that syncs its passkeys,
// verifies its user, and counts no signatures. Fields may be
// changed between ceremonies. Like a [testing.T], it belongs to one goroutine.
type Authenticator struct {
	hidden

	Origin string // of the page that asks, such as "https://example.com"
	// Provider is the id of the site's provider that a [Client] goes to. Empty:
	// passkey.
	Provider string
	// Account is the user name of the passkey that is chosen where several fit.
	// Empty: the newest.
	Account string
	// Unverified cannot tell who is there: UV is clear, and pages that require
	// it are refused.
	Unverified bool

	Algorithm string // of passkeys that are made: ES256, ES384, ES512, EdDSA or RS256; empty: the first that the page asks for
	// DeviceBound makes passkeys that cannot be synced: BE and BS are clear, and they count
	// their signatures.
	DeviceBound bool
	AAGUID      string   // the model that made passkeys name, as a UUID; empty: one of a password manager
	Transports  []string // of passkeys that are made; nil: hybrid and internal
	// Attestation is the type that is sent to pages that ask for one: "self" or
	// "basic", both in the format packed. Empty: none. See
	// [Authenticator.AttestationRoot].
	Attestation string

	passkeys []*Passkey
	bad      PasskeyMisbehaviour
	attester *attester // made when it is needed
}

// NewAuthenticator returns an authenticator without passkeys, in a browser that shows a
// page of origin.
func NewAuthenticator(origin string) *Authenticator {
	return &Authenticator{Origin: strings.TrimSuffix(origin, "/")}
}

// Passkey is a credential that an [Authenticator] keeps. Fields may be changed
// between ceremonies: a Counter set back is that of a clone.
type Passkey struct {
	hidden

	ID           []byte
	RPID         string // of the site
	UserHandle   []byte // user.id of the options
	UserName     string
	Discoverable bool // found without being asked for by its id
	// Counter is what the latest signature said. 0: signatures are not counted.
	Counter        uint32
	BackupEligible bool
	BackedUp       bool

	key passkeyKey
}

// Passkeys returns the passkeys that were made, oldest first. They are those of a, not
// copies.
func (a *Authenticator) Passkeys() []*Passkey { return slices.Clone(a.passkeys) }

// Forget removes a passkey from a, as its owner may. The site is not told.
func (a *Authenticator) Forget(p *Passkey) {
	a.passkeys = slices.DeleteFunc(a.passkeys, func(one *Passkey) bool { return one == p })
}

// Clone copies the authenticator with its passkeys, as an attacker with access to its
// memory would: from now on each counts on its own.
func (a *Authenticator) Clone() *Authenticator {
	c := *a
	c.passkeys = nil
	for _, p := range a.passkeys {
		copied := *p
		c.passkeys = append(c.passkeys, &copied)
	}
	return &c
}

// Misbehave makes all ceremonies that follow go wrong in this way. The zero
// PasskeyMisbehaviour ends it.
func (a *Authenticator) Misbehave(m PasskeyMisbehaviour) { a.bad = m }

// Create makes a passkey and returns what the browser sends of it, a
// RegistrationResponseJSON (Web Authentication Level 3, section 5.1). options is
// a PublicKeyCredentialCreationOptionsJSON, alone or in a member "options" or
// "publicKey". The error wraps [ErrInvalidState] for an excluded passkey, [ErrNotSupported]
// without a common algorithm, [ErrNotAllowed] if required user verification is missing,
// [ErrSecurity] for a foreign RP ID, or [ErrType] for a missing member. Others wrap none.
func (a *Authenticator) Create(options []byte) ([]byte, error) {
	o, err := parseCreationOptions(options)
	if err != nil {
		return nil, err
	}
	c, err := a.begin("webauthn.create", o.Challenge, o.RP.ID, o.Selection.UserVerification)
	if err != nil {
		return nil, err
	}
	if a.hasOneOf(o.Exclude, c.rpID) && !a.bad.Unchecked {
		return nil, fmt.Errorf("latchkeytest: %w: a passkey of this authenticator is registered already", ErrInvalidState)
	}
	if c.passkey, err = a.newPasskey(o, c.rpID); err != nil {
		return nil, err
	}
	response, err := c.register(o)
	if err == nil {
		a.keep(c.passkey)
	}
	return response, err
}

// Get signs in with a passkey and returns what the browser sends, an
// AuthenticationResponseJSON. options is a PublicKeyCredentialRequestOptionsJSON,
// wrapped or not as for Create. The error wraps [ErrNotAllowed] if no passkey fits or required
// user verification is missing, [ErrSecurity] for a foreign RP ID, or [ErrType].
func (a *Authenticator) Get(options []byte) ([]byte, error) {
	o, err := parseRequestOptions(options)
	if err != nil {
		return nil, err
	}
	c, err := a.begin("webauthn.get", o.Challenge, o.RPID, o.UserVerification)
	if err != nil {
		return nil, err
	}
	if c.passkey = a.choose(o, c.rpID); c.passkey == nil {
		return nil, fmt.Errorf("latchkeytest: %w: no passkey for %s that was asked for", ErrNotAllowed, c.rpID)
	}
	if c.passkey.Counter != 0 {
		c.passkey.Counter++
	}
	return c.authenticate()
}

// begin returns a ceremony after the checks that browsers make of each: the RP ID belongs
// to the origin, and user verification can be had if it is required. The error wraps
// ErrSecurity or ErrNotAllowed.
func (a *Authenticator) begin(kind string, challenge base64URL, rpID, verification string) (*passkeyCeremony, error) {
	rpID, err := relyingParty(a.Origin, rpID, a.bad.Unchecked)
	if err != nil {
		return nil, err
	}
	if a.Unverified && verification == "required" && !a.bad.Unchecked {
		return nil, fmt.Errorf("latchkeytest: %w: the page requires user verification", ErrNotAllowed)
	}
	return &passkeyCeremony{a: a, kind: kind, challenge: challenge, rpID: rpID}, nil
}

// hasOneOf reports whether a has a passkey for rpID that list names.
func (a *Authenticator) hasOneOf(list []descriptor, rpID string) bool {
	return slices.ContainsFunc(a.passkeys, func(p *Passkey) bool { return p.RPID == rpID && lists(list, p.ID) })
}

// newPasskey makes a passkey with a key of its own, and does not keep it.
func (a *Authenticator) newPasskey(o creationOptions, rpID string) (*Passkey, error) {
	alg, err := o.algorithm(a.Algorithm, a.bad.Unchecked)
	if err != nil {
		return nil, err
	}
	key, err := alg.newKey()
	if err != nil {
		return nil, err
	}
	p := &Passkey{
		ID: make([]byte, 32), RPID: rpID, UserHandle: o.User.ID, UserName: o.User.Name,
		Discoverable: o.Selection.ResidentKey != "discouraged", BackupEligible: !a.DeviceBound, BackedUp: !a.DeviceBound, key: key,
	}
	if a.DeviceBound {
		p.Counter = 1
	}
	_, err = rand.Read(p.ID)
	return p, err
}

// keep adds a passkey. A discoverable one replaces the discoverable one that the user has
// for the site (Web Authentication Level 3, section 6.3.2, step 7.4).
func (a *Authenticator) keep(p *Passkey) {
	a.passkeys = append(slices.DeleteFunc(a.passkeys, func(old *Passkey) bool {
		return old.Discoverable && p.Discoverable && old.RPID == p.RPID && bytes.Equal(old.UserHandle, p.UserHandle)
	}), p)
}

// choose returns the passkey to sign in with: that of Misbehave, or the newest that fits,
// or nil.
func (a *Authenticator) choose(o requestOptions, rpID string) *Passkey {
	if a.bad.Use != nil {
		return a.bad.Use
	}
	for _, p := range slices.Backward(a.passkeys) {
		asked := lists(o.Allow, p.ID) || len(o.Allow) == 0 && p.Discoverable
		if asked && p.RPID == rpID && (a.Account == "" || a.Account == p.UserName) {
			return p
		}
	}
	return nil
}

// passwordManager is the model of Authenticators that name no other: Google's,
// the most common of all.
const passwordManager = "ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4"

// aaguid returns the AAGUID in bytes, of a password manager unless the field is set.
func (a *Authenticator) aaguid() ([]byte, error) {
	text := a.AAGUID
	setDefault(&text, passwordManager)
	aaguid, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(aaguid) != 16 {
		return nil, fmt.Errorf("latchkeytest: the AAGUID %q is no UUID", text)
	}
	return aaguid, nil
}

func (a *Authenticator) transports() []string {
	if a.Transports == nil {
		return []string{"hybrid", "internal"}
	}
	return a.Transports
}

// attachment returns how the browser reaches the authenticator: platform or
// cross-platform.
func (a *Authenticator) attachment() string {
	if slices.Contains(a.transports(), "internal") {
		return "platform"
	}
	return "cross-platform"
}

// flags returns the flags of the authenticator data when p is used.
func (a *Authenticator) flags(p *Passkey) byte {
	flags := byte(FlagUserPresent)
	if !a.Unverified {
		flags |= FlagUserVerified
	}
	if p.BackupEligible {
		flags |= FlagBackupEligible
	}
	if p.BackedUp {
		flags |= FlagBackedUp
	}
	return flags
}

func sha256Of(data []byte) []byte {
	digest := sha256.Sum256(data)
	return digest[:]
}

func (a *Authenticator) provider() string {
	id := a.Provider
	setDefault(&id, "passkey")
	return id
}
