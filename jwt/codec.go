package jwt

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// MaxLen is the greatest length of a token in characters. A longer one is not
// made, and is refused before any other work when it is to be opened.
const MaxLen = 64 << 10

// Codec makes and reads tokens with the same secrets and the same salt again
// and again, without deriving the keys anew each time as [Encode] and [Decode]
// do. It derives them when they are first needed, each once, and finds the key
// of a token by its kid (the identifier of the key in the token's header), so
// that the cost of opening does not depend on the number of secrets. Make one
// with [NewCodec]. Safe for concurrent use.
type Codec struct {
	hidden

	secrets []string
	salt    string
	usable  bool

	// The keys are derived when they are first needed. Programs of one secret need the
	// first alone, unless tokens come from another implementation.
	first lazy[firstKey]
	rings struct {
		cbc lazy[cbcRing]
		gcm lazy[gcmRing]
	}
}

// lazy is a value that is made when it is first needed. The zero lazy is ready for use,
// and safe for concurrent use. Unlike sync.OnceValue it needs no memory of its own: a site
// has dozens of codecs, and most never open a token.
type lazy[T any] struct {
	once  sync.Once
	value T
}

// get returns the value, which the first call makes.
func (l *lazy[T]) get(make func() T) T {
	l.once.Do(func() { l.value = make() })
	return l.value
}

// firstKey is the A256CBC-HS512 key of the first secret, or the error of a platform that
// forbids the secret.
type firstKey struct {
	key *cbcKey
	err error
}

// cbcRing holds the A256CBC-HS512 keys of all secrets, without those that the platform
// forbids.
type cbcRing struct {
	byHeader map[string]*cbcKey
	byKid    map[string]*cbcKey
}

// gcmRing holds the A256GCM keys of all secrets, without those that the platform forbids.
type gcmRing struct {
	newest *gcmKey // of the first secret; nil: the platform forbids it
	byKid  map[string]*gcmKey
}

// NewCodec returns a [Codec] that seals new tokens with the first of secrets,
// the newest, and opens tokens sealed with any of them. salt is the name of the
// cookie the tokens are for: they open under no other. With no secret, or a blank
// one among them, every method of the Codec that returns an error returns
// [ErrNoSecret].
func NewCodec(secrets []string, salt string) *Codec {
	c := &Codec{secrets: slices.Clone(secrets), salt: salt, usable: len(secrets) > 0}
	for _, secret := range secrets {
		c.usable = c.usable && strings.TrimSpace(secret) != ""
	}
	return c
}

// newest returns the A256CBC-HS512 key of the first secret.
func (c *Codec) newest() (*cbcKey, error) {
	first := c.first.get(func() firstKey {
		key, err := newCBCKey(c.secrets[0], c.salt)
		return firstKey{key, err}
	})
	return first.key, first.err
}

// cbc returns the A256CBC-HS512 keys of all secrets.
func (c *Codec) cbc() cbcRing { return c.rings.cbc.get(c.cbcRing) }

// gcm returns the A256GCM keys of all secrets.
func (c *Codec) gcm() gcmRing { return c.rings.gcm.get(c.gcmRing) }

// cbcRing derives the A256CBC-HS512 keys of all secrets. It leaves out those that the
// platform forbids.
func (c *Codec) cbcRing() cbcRing {
	ring := cbcRing{byHeader: make(map[string]*cbcKey), byKid: make(map[string]*cbcKey)}
	for i := range c.secrets {
		if k, err := c.cbcKey(i); err == nil {
			ring.byHeader[k.header], ring.byKid[k.kid] = k, k
		}
	}
	return ring
}

// cbcKey returns the A256CBC-HS512 key of the secret with index i. It derives the first
// one only once, and the others at each call.
func (c *Codec) cbcKey(i int) (*cbcKey, error) {
	if i == 0 {
		return c.newest()
	}
	return newCBCKey(c.secrets[i], c.salt)
}

// gcmRing derives the A256GCM keys of all secrets. It leaves out those that the platform
// forbids. So ring.newest is nil if the first secret is forbidden.
func (c *Codec) gcmRing() (ring gcmRing) {
	ring.byKid = make(map[string]*gcmKey)
	for i, secret := range c.secrets {
		k, err := newGCMKey(secret, c.salt)
		if err == nil {
			ring.byKid[k.kid] = k
		}
		if err == nil && i == 0 {
			ring.newest = k
		}
	}
	return ring
}

// Seal encrypts payload, any bytes, into a token: with A256CBC-HS512, a key
// derived from the first secret and a random IV. It adds no claims; see
// [Codec.SealClaims] for that. It fails with [ErrTooLong], with [ErrNoSecret],
// or where the platform forbids so short a secret, as FIPS 140 does.
func (c *Codec) Seal(payload []byte) (string, error) {
	k, err := c.key()
	if err != nil {
		return "", err
	}
	return k.seal(payload)
}

// Open decrypts token and returns its payload, after it has made sure that the
// token was sealed with one of the secrets and not changed since. It ignores what the
// payload says, the expiry included: [Codec.OpenClaims] checks it. The result belongs to
// the caller. The error is [ErrInvalid] for any fault of the token, and [ErrNoSecret]
// without a secret. Any other error says that the platform forbids a secret, as FIPS 140
// does with very short ones.
func (c *Codec) Open(token string) ([]byte, error) { return c.AppendOpen(nil, token) }

// AppendOpen opens token as [Codec.Open] does and appends the payload to dst. With an
// error it returns dst; bytes beyond its length, within its capacity, may have changed.
func (c *Codec) AppendOpen(dst []byte, token string) ([]byte, error) {
	opened, err := c.appendOpen(dst, token)
	if err != nil {
		return dst, err
	}
	return opened, nil
}

// appendOpen opens token and appends the payload to dst. It returns nil beside an error.
// The errors are those of Open.
func (c *Codec) appendOpen(dst []byte, token string) ([]byte, error) {
	k, err := c.key()
	if err != nil {
		return nil, err
	}
	if len(token) > MaxLen {
		return nil, ErrInvalid
	}
	p, ok := split(token)
	if !ok {
		return nil, ErrInvalid
	}
	if p.header == k.header { // no base64, no JSON: the header is known byte for byte
		return k.open(dst, p, k.aad)
	}
	return c.openOther(dst, k, p)
}

// key returns the key of the newest secret. It returns [ErrNoSecret], or the error of a
// platform that forbids the secret.
func (c *Codec) key() (*cbcKey, error) {
	if !c.usable {
		return nil, ErrNoSecret
	}
	k, err := c.newest()
	if err != nil {
		return nil, fmt.Errorf("jwt: the key cannot be derived: %w", err)
	}
	return k, nil
}

// openOther opens a token whose header is not that of the newest key: the token is sealed
// by an older secret, or by another implementation, which may write the header
// differently. It finds the key by the header or by its kid. A token without a kid is
// tried with the newest key alone. The error is ErrInvalid.
func (c *Codec) openOther(dst []byte, newest *cbcKey, p parts) ([]byte, error) {
	if len(c.secrets) > 1 {
		if k := c.cbc().byHeader[p.header]; k != nil {
			return k.open(dst, p, k.aad)
		}
	}
	h, ok := parseHeader(p.header)
	if !ok {
		return nil, ErrInvalid
	}
	if h.enc == encGCM {
		return c.openGCM(dst, h, p)
	}
	k := newest
	if h.hasKid {
		k = c.cbc().byKid[h.kid] // a kid that names none of our keys is final; keys are not tried in turn
	}
	if k == nil {
		return nil, ErrInvalid
	}
	return k.open(dst, p, []byte(p.header))
}

// openGCM opens an A256GCM token with the key that its kid names, or with the newest key
// if it has no kid. The error is ErrInvalid.
func (c *Codec) openGCM(dst []byte, h header, p parts) ([]byte, error) {
	ring := c.gcm()
	k := ring.newest
	if h.hasKid {
		k = ring.byKid[h.kid]
	}
	if k == nil {
		return nil, ErrInvalid
	}
	return k.open(dst, p)
}

// SealedBy returns the index, among the secrets given to [NewCodec], of the secret whose
// key the header of token names by its kid. It returns -1 if the kid is of none of them.
// It returns 0, the index of the newest secret, if there is no kid to compare: for a
// token without one, for text that is no token, and if c has no usable secret. It opens
// nothing, so its result proves nothing.
func (c *Codec) SealedBy(token string) int {
	newest, err := c.key()
	if err != nil || len(token) > MaxLen {
		return 0
	}
	p, ok := split(token)
	if !ok || p.header == newest.header {
		return 0
	}
	h, ok := parseHeader(p.header)
	if !ok || !h.hasKid {
		return 0
	}
	for i, secret := range c.secrets {
		kid := ""
		if h.enc == encGCM {
			if k, err := newGCMKey(secret, c.salt); err == nil {
				kid = k.kid
			}
		} else if k, err := c.cbcKey(i); err == nil {
			kid = k.kid
		}
		if kid == h.kid {
			return i
		}
	}
	return -1
}

// parts are the five parts of a compact JWE without the second, the encrypted
// key, which is empty when a key is used directly (RFC 7518 section 4.5).
type parts struct {
	header, iv, ciphertext, tag string
}

// split cuts a compact JWE at its dots. It returns false if a part is missing or the
// encrypted key is not empty. A tag with a dot in it is left for the decoder to refuse.
func split(token string) (p parts, ok bool) {
	var key string
	p.header, token, _ = strings.Cut(token, ".")
	key, token, _ = strings.Cut(token, ".")
	p.iv, token, _ = strings.Cut(token, ".")
	p.ciphertext, p.tag, ok = strings.Cut(token, ".") // a sixth part is refused as part of the tag
	return p, ok && key == ""
}
