package latchkeytest

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// passkeyCeremony is one answer in the making.
type passkeyCeremony struct {
	a         *Authenticator
	kind      string // webauthn.create or webauthn.get
	challenge base64URL
	rpID      string
	passkey   *Passkey

	clientData []byte
	data       *AuthenticatorData
	rawData    []byte
}

// signed returns the bytes that signatures cover.
func (c *passkeyCeremony) signed() []byte {
	return slices.Concat(c.rawData, sha256Of(c.clientData))
}

// prepare sets clientData, data and rawData of c, changed as Misbehave says. d holds what
// the kind of ceremony adds to the authenticator data, and is changed.
func (c *passkeyCeremony) prepare(d *AuthenticatorData) (err error) {
	client := map[string]any{"type": c.kind, "challenge": c.challenge.String(), "origin": c.a.Origin, "crossOrigin": false}
	edit(c.a.bad.ClientData, client)
	if c.clientData, err = encodeClientData(client); err != nil {
		return err
	}
	c.clientData = rewrite(c.a.bad.RawClientData, c.clientData)
	d.RPIDHash = sha256Of([]byte(c.rpID))
	d.Counter = c.passkey.Counter
	d.Flags |= c.a.flags(c.passkey)
	edit(c.a.bad.AuthenticatorData, d)
	if c.rawData, err = d.encode(); err != nil {
		return err
	}
	c.data, c.rawData = d, rewrite(c.a.bad.RawAuthenticatorData, c.rawData)
	return nil
}

// register returns the RegistrationResponseJSON of a new passkey.
func (c *passkeyCeremony) register(o creationOptions) ([]byte, error) {
	p := c.passkey
	aaguid, err := c.a.aaguid()
	if err != nil {
		return nil, err
	}
	key, err := p.key.cose()
	if err != nil {
		return nil, err
	}
	if err := c.prepare(&AuthenticatorData{Flags: FlagAttestedData, AAGUID: aaguid, CredentialID: p.ID, PublicKey: key}); err != nil {
		return nil, err
	}
	p.ID = c.data.CredentialID
	object, err := c.attest(o.Attestation)
	if err != nil {
		return nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(p.key.Public())
	if err != nil {
		return nil, err
	}
	extensions := map[string]any{}
	if o.Extensions["credProps"] == true {
		extensions["credProps"] = map[string]any{"rk": p.Discoverable}
	}
	return c.credential(extensions, map[string]any{
		"attestationObject":  base64URL(object).String(),
		"authenticatorData":  base64URL(c.rawData).String(),
		"publicKey":          base64URL(public).String(),
		"publicKeyAlgorithm": p.key.algorithm.id,
		"transports":         c.a.transports(),
	})
}

// authenticate returns the AuthenticationResponseJSON of a passkey.
func (c *passkeyCeremony) authenticate() ([]byte, error) {
	if err := c.prepare(&AuthenticatorData{}); err != nil {
		return nil, err
	}
	signature, err := c.a.bad.signature(c.passkey.key, c.signed())
	if err != nil {
		return nil, err
	}
	response := map[string]any{
		"authenticatorData": base64URL(c.rawData).String(),
		"signature":         base64URL(signature).String(),
	}
	if c.passkey.Discoverable {
		response["userHandle"] = base64URL(c.passkey.UserHandle).String()
	}
	return c.credential(map[string]any{}, response)
}

// credential returns the JSON of a credential with this response, to which it adds the
// client data.
func (c *passkeyCeremony) credential(extensions, response map[string]any) ([]byte, error) {
	id := base64URL(c.passkey.ID).String()
	response["clientDataJSON"] = base64URL(c.clientData).String()
	members := map[string]any{
		"id": id, "rawId": id, "type": "public-key", "response": response,
		"authenticatorAttachment": c.a.attachment(), "clientExtensionResults": extensions,
	}
	if c.a.bad.Credential != nil {
		c.a.bad.Credential(members, response)
	}
	text, err := json.Marshal(members)
	if err != nil {
		return nil, fmt.Errorf("latchkeytest: %w", err)
	}
	return text, nil
}

// encodeClientData writes the members in the order that the specification
// promises to readers without a JSON parser (section 5.8.1.1).
func encodeClientData(members map[string]any) ([]byte, error) {
	rest := maps.Clone(members)
	first := []string{"type", "challenge", "origin", "crossOrigin"}
	maps.DeleteFunc(rest, func(name string, _ any) bool { return slices.Contains(first, name) })
	names := slices.Concat(first, slices.Sorted(maps.Keys(rest)))
	list := make([]string, 0, len(members))
	for _, name := range names {
		value, ok := members[name]
		if !ok {
			continue
		}
		member, err := json.Marshal(map[string]any{name: value})
		if err != nil {
			return nil, fmt.Errorf("latchkeytest: client data: %w", err)
		}
		list = append(list, string(member[1:len(member)-1]))
	}
	return []byte("{" + strings.Join(list, ",") + "}"), nil
}
