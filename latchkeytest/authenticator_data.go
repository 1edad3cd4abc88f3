package latchkeytest

import (
	"bytes"
	"encoding/binary"
)

// The flags of [AuthenticatorData]. See Web Authentication Level 3, section 6.1.
const (
	FlagUserPresent    = 0x01 // UP
	FlagUserVerified   = 0x04 // UV
	FlagBackupEligible = 0x08 // BE: the passkey may be synced
	FlagBackedUp       = 0x10 // BS: it is
	FlagAttestedData   = 0x40 // AT: a new passkey follows
	FlagExtensions     = 0x80 // ED: extensions follow
)

// AuthenticatorData is what an [Authenticator] signs about itself, before it is
// encoded. See Web Authentication Level 3, section 6.1. Flags promise, they do
// not decide: a part is there if its field is not nil. AAGUID, CredentialID and PublicKey
// describe a new passkey, and are nil when a passkey is used.
type AuthenticatorData struct {
	RPIDHash []byte // SHA-256 of the RP ID
	Flags    byte
	Counter  uint32

	AAGUID       []byte // 16 bytes
	CredentialID []byte
	PublicKey    map[int]any // the COSE key by its labels, such as 3 for the algorithm

	Extensions map[string]any // outputs; nil: none
}

// encode returns the bytes of d. It writes the parts that are not nil, whatever the flags
// say.
func (d *AuthenticatorData) encode() ([]byte, error) {
	out := bytes.NewBuffer(bytes.Clone(d.RPIDHash))
	out.WriteByte(d.Flags)
	out.Write(binary.BigEndian.AppendUint32(nil, d.Counter))
	if d.CredentialID != nil {
		out.Write(d.AAGUID)
		out.Write(binary.BigEndian.AppendUint16(nil, uint16(len(d.CredentialID))))
		out.Write(d.CredentialID)
	}
	if d.PublicKey != nil {
		key, err := encodeCBOR(d.PublicKey)
		if err != nil {
			return nil, err
		}
		out.Write(key)
	}
	if d.Extensions != nil {
		extensions, err := encodeCBOR(d.Extensions)
		if err != nil {
			return nil, err
		}
		out.Write(extensions)
	}
	return out.Bytes(), nil
}
