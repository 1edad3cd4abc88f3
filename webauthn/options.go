package webauthn

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/latchkeyhq/latchkey/passkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// The JSON that navigator.credentials is called with (Web Authentication Level
// 3, sections 5.1.8 and 5.1.9).

// The algorithms that are asked for: ES256, Ed25519, RS256.
var defaultAlgorithms = []int{-7, -8, -257}

type creationOptions struct {
	RP          entity         `json:"rp"`
	User        userEntity     `json:"user"`
	Challenge   string         `json:"challenge"`
	Algorithms  []algorithm    `json:"pubKeyCredParams"`
	Timeout     int64          `json:"timeout"`
	Exclude     []descriptor   `json:"excludeCredentials"`
	Selection   selection      `json:"authenticatorSelection"`
	Hints       []string       `json:"hints,omitempty"`
	Attestation string         `json:"attestation"`
	Extensions  map[string]any `json:"extensions,omitempty"`
}

type entity struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type userEntity struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
}

type algorithm struct {
	ID   int    `json:"alg"`
	Type string `json:"type"`
}

type descriptor struct {
	ID         string   `json:"id"`
	Type       string   `json:"type"`
	Transports []string `json:"transports,omitempty"`
}

type selection struct {
	Attachment         string              `json:"authenticatorAttachment,omitempty"`
	ResidentKey        passkey.Requirement `json:"residentKey"`
	RequireResidentKey bool                `json:"requireResidentKey"` // the same, for browsers of Level 1
	UserVerification   passkey.Requirement `json:"userVerification"`
}

type requestOptions struct {
	Challenge        string              `json:"challenge"`
	RPID             string              `json:"rpId"`
	Timeout          int64               `json:"timeout"`
	UserVerification passkey.Requirement `json:"userVerification"`
	Allow            *[]descriptor       `json:"allowCredentials,omitempty"` // nil: any
	Hints            []string            `json:"hints,omitempty"`
	Extensions       map[string]any      `json:"extensions,omitempty"`
}

// CreationOptions returns JSON for navigator.credentials.create: see [passkey.Ceremony].
func (Ceremony) CreationOptions(_ context.Context, r passkey.Registration) (json.RawMessage, error) {
	o := creationOptions{
		RP:        entity{r.RelyingParty.ID, r.RelyingParty.Name},
		User:      userEntity{text(r.UserHandle), r.UserName, r.DisplayName},
		Challenge: text(r.Challenge), Timeout: milliseconds(r.Options.Timeout), Exclude: descriptors(r.Exclude),
		Selection: selection{
			r.Options.Attachment, r.Options.ResidentKey, r.Options.ResidentKey == passkey.Required, r.Options.UserVerification,
		},
		Hints: r.Options.Hints, Attestation: r.Options.Attestation, Extensions: r.Options.Extensions,
	}
	for _, alg := range algorithms(r) {
		o.Algorithms = append(o.Algorithms, algorithm{alg, publicKey})
	}
	return json.Marshal(o)
}

// RequestOptions returns JSON for navigator.credentials.get: see [passkey.Ceremony].
func (Ceremony) RequestOptions(_ context.Context, a passkey.Authentication) (json.RawMessage, error) {
	o := requestOptions{
		Challenge: text(a.Challenge), RPID: a.RelyingParty.ID, Timeout: milliseconds(a.Options.Timeout),
		UserVerification: a.Options.UserVerification, Hints: a.Options.Hints, Extensions: a.Options.Extensions,
	}
	if a.Allow != nil {
		list := descriptors(a.Allow)
		o.Allow = &list
	}
	return json.Marshal(o)
}

// algorithms returns the COSE algorithms to ask for, the default ones if r has nil.
func algorithms(r passkey.Registration) []int {
	if r.Options.Algorithms == nil {
		return defaultAlgorithms
	}
	return r.Options.Algorithms
}

// descriptors returns the passkeys as the browser gets them. It never returns nil.
func descriptors(keys []storage.Authenticator) []descriptor {
	list := make([]descriptor, 0, len(keys))
	for _, k := range keys {
		list = append(list, descriptor{text(k.CredentialID), publicKey, k.Transports})
	}
	return list
}

// text returns b in base64url without padding.
func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func milliseconds(d time.Duration) int64 { return d.Milliseconds() }
