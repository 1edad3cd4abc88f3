package webauthn

import (
	"bytes"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/passkey"
)

// What browsers answer is read more strictly than encoding/json does: names are
// compared exactly, and every value has the type and encoding that it must have.

const publicKey = "public-key"

// Limits in bytes. All answers come from unauthenticated clients.
const (
	longestAnswer     = 64 << 10 // the credential as JSON
	longestID         = 1023     // Web Authentication Level 3, section 4
	longestClientData = 8 << 10  // decoded, as all that follows
	longestObject     = 16 << 10 // attestationObject and authenticatorData
	longestSignature  = 1 << 10  // RSA of 4096 bits takes 512
	longestHandle     = 128      // 64, or their text in base64url
)

// The types of client data.
const (
	typeCreate = "webauthn.create"
	typeGet    = "webauthn.get"
)

// members are the members of a JSON object. The keys are their names, in the case they
// were sent in.
type members map[string]json.RawMessage

// membersOf decodes a JSON object. For anything else it returns an error, which calls the
// object by the name in what.
func membersOf(raw []byte, what string) (m members, err error) {
	if !utf8.Valid(raw) || json.Unmarshal(raw, &m) != nil || m == nil {
		return nil, errors.New(what + " is no JSON object")
	}
	return m, nil
}

// text returns a member that has to be text. A missing member is an error.
func (m members) text(name string) (string, error) {
	var s *string
	if json.Unmarshal(m[name], &s) != nil || s == nil {
		return "", fmt.Errorf("%s is missing, or no text", name)
	}
	return *s, nil
}

// bytes returns a member that has to be base64url without padding, of 1 to most bytes.
func (m members) bytes(name string, most int) ([]byte, error) {
	s, err := m.text(name)
	if err != nil {
		return nil, err
	}
	if base64.RawURLEncoding.DecodedLen(len(s)) > most {
		return nil, fmt.Errorf("%s has more than %d bytes", name, most)
	}
	return fromText(name, s)
}

// fromText decodes base64url without padding. It returns an error that names the member
// for an empty or malformed text.
func fromText(name, s string) ([]byte, error) {
	if strings.ContainsAny(s, "\r\n") { // which the decoder skips
		return nil, fmt.Errorf("%s is not in base64url", name)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) == 0 {
		return nil, fmt.Errorf("%s is empty, or not in base64url", name)
	}
	return b, nil
}

// isNull reports whether the member is missing or null.
func (m members) isNull(name string) bool {
	raw, there := m[name]
	return !there || bytes.Equal(raw, []byte("null"))
}

// credential is a PublicKeyCredential in JSON: its id and its response.
type credential struct {
	id       []byte
	response members
}

// readCredential decodes a browser's answer. It returns an error if the answer is too
// large or malformed, if id and rawId differ, or if the type is not public-key.
func readCredential(answer []byte) (c credential, err error) {
	if len(answer) > longestAnswer {
		return c, fmt.Errorf("the answer has more than %d bytes", longestAnswer)
	}
	m, err := membersOf(answer, "the answer")
	if err != nil {
		return c, err
	}
	if c.id, err = m.bytes("id", longestID); err != nil {
		return c, err
	}
	raw, err := m.bytes("rawId", longestID)
	if err != nil {
		return c, err
	}
	if !bytes.Equal(c.id, raw) {
		return c, errors.New("id and rawId differ")
	}
	if kind, err := m.text("type"); err != nil || kind != publicKey {
		return c, errors.New("type is not public-key")
	}
	c.response, err = membersOf(m["response"], "response")
	return c, err
}

// checkClientData checks the client data (section 5.8.1): its type has to be kind, its
// challenge the given one, its origin one of rp, and checkFrame has to accept it. It returns
// clientDataJSON, decoded from base64url, over which the authenticator has signed.
func (c *credential) checkClientData(kind string, challenge []byte, rp passkey.RelyingParty) ([]byte, error) {
	raw, err := c.response.bytes("clientDataJSON", longestClientData)
	if err != nil {
		return nil, err
	}
	m, err := membersOf(bytes.TrimPrefix(raw, []byte("\ufeff")), "clientDataJSON") // UTF-8 decode drops the mark
	if err != nil {
		return nil, err
	}
	if given, err := m.text("type"); err != nil || given != kind {
		return nil, errors.New("client data: type is not " + kind)
	}
	given, err := m.text("challenge")
	if err != nil || len(challenge) == 0 || subtle.ConstantTimeCompare([]byte(given), []byte(text(challenge))) != 1 {
		return nil, errors.New("client data: challenge is not the one that was issued")
	}
	origin, err := m.text("origin")
	if err != nil || !slices.Contains(rp.Origins, origin) {
		return nil, errors.New("client data: origin is not one of the site's")
	}
	return raw, m.checkFrame()
}

// checkFrame returns an error if the page was in a frame of another site, or if the
// connection used token binding, which cannot be checked.
func (m members) checkFrame() error {
	if raw, there := m["crossOrigin"]; there && !bytes.Equal(raw, []byte("false")) {
		return errors.New("client data: the page was in a frame of another site")
	}
	if _, there := m["topOrigin"]; there {
		return errors.New("client data: the page was in a frame of another site")
	}
	raw, there := m["tokenBinding"] // of Level 2
	if !there {
		return nil
	}
	binding, err := membersOf(raw, "tokenBinding")
	if err != nil {
		return err
	}
	if status, err := binding.text("status"); err != nil || !slices.Contains([]string{"supported", "not-supported"}, status) {
		return errors.New("client data: the token binding cannot be checked")
	}
	return nil
}
