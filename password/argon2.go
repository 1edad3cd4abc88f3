package password

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"

	"golang.org/x/crypto/argon2"
)

// argon is one argon2 hash without its tag (RFC 9106).
type argon struct {
	key    func(password, salt []byte, time, memory uint32, threads uint8, keyLen uint32) []byte
	params Params
	salt   []byte
	pepper Pepper // zero: none
}

// withDefaults returns p with the defaults in place of its zero fields.
func (p Params) withDefaults() Params {
	return Params{cmp.Or(p.KiB, 19456), cmp.Or(p.Passes, 2), cmp.Or(p.Threads, 1)}
}

// bytes returns the memory that one hash takes.
func (p Params) bytes() int64 { return int64(p.KiB) << 10 }

const (
	saltBytes = 16
	tagBytes  = 32
)

// newArgon returns a hash by the current parameters and pepper, with a new salt.
func (o Options) newArgon() argon {
	a := argon{key: argon2.IDKey, params: o.Params, salt: make([]byte, saltBytes)}
	rand.Read(a.salt)
	if len(o.Peppers) > 0 {
		a.pepper = o.Peppers[0]
	}
	return a
}

// nobody returns the verifier for unknown users and users without a password. It fits no
// password, but computes a hash, so that it takes as long as for a wrong password.
func (o Options) nobody() verifier {
	a := o.newArgon()
	return verifier{bytes: a.params.bytes(), texts: asTyped, check: func(text string) (bool, error) {
		a.tag(text, tagBytes)
		return false, nil
	}}
}

// tag returns n bytes of the argon2 hash of a text. If a has a pepper, it hashes the
// HMAC of the text by the pepper in place of the text.
func (a argon) tag(text string, n uint32) []byte {
	input := []byte(text)
	if a.pepper.ID != "" {
		mac := hmac.New(sha256.New, a.pepper.Key)
		mac.Write(input)
		input = mac.Sum(nil)
	}
	return a.key(input, a.salt, a.params.Passes, a.params.KiB, a.params.Threads, n)
}

// hash returns the PHC string of an argon2id hash of a text.
func (a argon) hash(text string) string {
	b64 := base64.RawStdEncoding
	keyID := ""
	if a.pepper.ID != "" {
		keyID = ",keyid=" + b64.EncodeToString([]byte(a.pepper.ID))
	}
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d%s$%s$%s", argon2.Version, a.params.KiB, a.params.Passes,
		a.params.Threads, keyID, b64.EncodeToString(a.salt), b64.EncodeToString(a.tag(text, tagBytes)))
}

// parseArgon2id reads an argon2id hash. The verifier is stale unless the hash has the
// parameters, the sizes and the pepper of new hashes.
func (o Options) parseArgon2id(rest string) (verifier, error) {
	a, tag, err := o.parseArgon(rest)
	if err != nil {
		return verifier{}, err
	}
	a.key = argon2.IDKey
	stale := a.params != o.Params || len(a.salt) != saltBytes || len(tag) != tagBytes || a.pepper.ID != o.newestPepper()
	return a.verifier(tag, stale), nil
}

// parseArgon2i reads an argon2i hash, which is always stale.
func (o Options) parseArgon2i(rest string) (verifier, error) {
	a, tag, err := o.parseArgon(rest)
	if err != nil {
		return verifier{}, err
	}
	a.key = argon2.Key
	return a.verifier(tag, true), nil
}

// verifier returns the verifier of the hash whose tag is given. It compares in constant
// time.
func (a argon) verifier(tag []byte, stale bool) verifier {
	return verifier{bytes: a.params.bytes(), stale: stale, texts: preparedOrTyped, check: func(text string) (bool, error) {
		return subtle.ConstantTimeCompare(a.tag(text, uint32(len(tag))), tag) == 1, nil
	}}
}

// parseArgon reads "v=19$m=…,t=…,p=…[,keyid=…]$salt$tag".
func (o Options) parseArgon(rest string) (a argon, tag []byte, err error) {
	parts, err := fields(rest, 4)
	if err != nil {
		return a, nil, err
	}
	if want := fmt.Sprintf("v=%d", argon2.Version); parts[0] != want {
		return a, nil, notSupported("argon2 version: want %s", want)
	}
	values, err := parameters(parts[1], "m", "t", "p", "keyid")
	if err != nil {
		return a, nil, err
	}
	if a.params, err = argonParams(values); err != nil {
		return a, nil, err
	}
	if a.salt, err = bytesOf("salt", parts[2], 8, maxSalt); err != nil {
		return a, nil, err
	}
	if tag, err = bytesOf("tag", parts[3], minTag, maxTag); err != nil {
		return a, nil, err
	}
	a.pepper, err = o.pepperOf(values["keyid"])
	return a, tag, err
}

// argonParams returns the parameters m, t and p of a hash. It returns an [ErrHash] if
// one is missing or beyond the limits.
func argonParams(values map[string]string) (Params, error) {
	m, err := number("m", values["m"], maxKiB)
	if err != nil {
		return Params{}, err
	}
	t, err := number("t", values["t"], maxPasses)
	if err != nil {
		return Params{}, err
	}
	p, err := number("p", values["p"], maxThreads)
	if err != nil {
		return Params{}, err
	}
	if m < 8*p {
		return Params{}, notSupported("m is %d, less than 8 times p", m)
	}
	return Params{KiB: uint32(m), Passes: uint32(t), Threads: uint8(p)}, nil
}

// newestPepper returns the id of the pepper of new hashes, or "".
func (o Options) newestPepper() string {
	if len(o.Peppers) == 0 {
		return ""
	}
	return o.Peppers[0].ID
}

// pepperOf returns the pepper that a hash names, or the zero Pepper for an empty keyID.
// A pepper that is not configured is the operator's fault and no wrong password: the
// error does not wrap [ErrHash].
func (o Options) pepperOf(keyID string) (Pepper, error) {
	if keyID == "" {
		return Pepper{}, nil
	}
	id, err := bytesOf("keyid", keyID, 1, 8)
	if err != nil {
		return Pepper{}, err
	}
	for _, p := range o.Peppers {
		if p.ID == string(id) {
			return p, nil
		}
	}
	return Pepper{}, fmt.Errorf("password: a hash was made with pepper %q, which Options.Peppers does not have", id)
}
