package password

import (
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"hash"
	"strconv"

	"golang.org/x/crypto/bcrypt"
	"golang.org/x/crypto/scrypt"
)

// compared returns a stale verifier that computes a tag and compares it with tag, in
// constant time. bytes is the memory that compute needs, and texts is verifier.texts.
func compared(tag []byte, bytes int64, texts func(string) []string, compute func(text string) ([]byte, error)) verifier {
	return verifier{bytes: bytes, stale: true, texts: texts, check: func(text string) (bool, error) {
		got, err := compute(text)
		return err == nil && subtle.ConstantTimeCompare(got, tag) == 1, err
	}}
}

// bcryptOf returns the verifier of a bcrypt hash, which begins with "$2". It hashes what
// change returns for a password, cut to the 72 bytes that bcrypt reads.
func bcryptOf(stored string, change func(text string) string) (verifier, error) {
	cost, err := bcrypt.Cost([]byte(stored))
	if err != nil || len(stored) != 60 {
		return verifier{}, notSupported("bcrypt: damaged")
	}
	if cost > maxBcryptCost {
		return verifier{}, notSupported("bcrypt: cost is %d, the limit is %d", cost, maxBcryptCost)
	}
	return verifier{stale: true, texts: asTyped, check: func(text string) (bool, error) {
		text = change(text)
		text = text[:min(len(text), 72)] // bcrypt reads no more
		err := bcrypt.CompareHashAndPassword([]byte(stored), []byte(text))
		if errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
			return false, nil
		}
		return err == nil, err
	}}, nil
}

func unchanged(text string) string { return text }

// parseBcrypt reads plain bcrypt: Laravel, Supabase, Auth0, Clerk, Devise.
func (o Options) parseBcrypt(rest string) (verifier, error) {
	return bcryptOf("$2b$"+rest, func(text string) string { return text + o.DevisePepper })
}

// parseDjangoBcrypt parses a hash of Django's BCryptPasswordHasher. rest is the bcrypt hash
// without its "$2", which is part of the prefix that was cut off.
func (o Options) parseDjangoBcrypt(rest string) (verifier, error) {
	return bcryptOf("$2"+rest, unchanged)
}

// parseDjangoBcryptSHA256 reads bcrypt of the hexadecimal SHA-256 of the password.
func (o Options) parseDjangoBcryptSHA256(rest string) (verifier, error) {
	return bcryptOf("$2"+rest, func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	})
}

func (o Options) parseDjangoPBKDF2SHA256(rest string) (verifier, error) {
	return djangoPBKDF2(rest, sha256.New, sha256.Size)
}

func (o Options) parseDjangoPBKDF2SHA1(rest string) (verifier, error) {
	return djangoPBKDF2(rest, sha1.New, sha1.Size)
}

// djangoPBKDF2 reads "iterations$salt$tag". The salt is text.
func djangoPBKDF2[H hash.Hash](rest string, h func() H, size int) (verifier, error) {
	parts, err := fields(rest, 3)
	if err != nil {
		return verifier{}, err
	}
	tag, err := bytesOf("tag", parts[2], size, size)
	if err != nil {
		return verifier{}, err
	}
	return pbkdf2Of(parts[0], []byte(parts[1]), tag, h)
}

// parsePBKDF2SHA256 reads "i=…$salt$tag" of a PHC string.
func (o Options) parsePBKDF2SHA256(rest string) (verifier, error) {
	parts, err := fields(rest, 3)
	if err != nil {
		return verifier{}, err
	}
	values, err := parameters(parts[0], "i", "l")
	if err != nil {
		return verifier{}, err
	}
	salt, tag, err := saltAndTag(parts[1], parts[2])
	if err != nil {
		return verifier{}, err
	}
	return pbkdf2Of(values["i"], salt, tag, sha256.New)
}

// pbkdf2Of returns the verifier of a PBKDF2 hash. It refuses a salt or a number of
// iterations beyond the limits.
func pbkdf2Of[H hash.Hash](iterations string, salt, tag []byte, h func() H) (verifier, error) {
	n, err := number("iterations", iterations, maxIterations)
	if err != nil {
		return verifier{}, err
	}
	if len(salt) < minSalt || len(salt) > maxSalt {
		return verifier{}, notSupported("salt has %d bytes", len(salt))
	}
	return compared(tag, 0, asTyped, func(text string) ([]byte, error) {
		return pbkdf2.Key(h, text, salt, int(n), len(tag))
	}), nil
}

// parseDjangoScrypt reads "N$salt$r$p$tag". The salt is text.
func (o Options) parseDjangoScrypt(rest string) (verifier, error) {
	parts, err := fields(rest, 5)
	if err != nil {
		return verifier{}, err
	}
	n, err := number("N", parts[0], maxKiB<<10)
	if err != nil {
		return verifier{}, err
	}
	tag, err := bytesOf("tag", parts[4], minTag, maxTag)
	if err != nil {
		return verifier{}, err
	}
	return scryptOf(n, parts[2], parts[3], []byte(parts[1]), tag, asTyped)
}

// parseScrypt reads "ln=…,r=…,p=…$salt$tag" of a PHC string.
func (o Options) parseScrypt(rest string) (verifier, error) {
	parts, err := fields(rest, 3)
	if err != nil {
		return verifier{}, err
	}
	values, err := parameters(parts[0], "ln", "r", "p")
	if err != nil {
		return verifier{}, err
	}
	ln, err := number("ln", values["ln"], 28)
	if err != nil {
		return verifier{}, err
	}
	salt, tag, err := saltAndTag(parts[1], parts[2])
	if err != nil {
		return verifier{}, err
	}
	return scryptOf(1<<ln, values["r"], values["p"], salt, tag, asTyped)
}

// saltAndTag decodes the last two fields of a PHC string.
func saltAndTag(saltText, tagText string) (salt, tag []byte, err error) {
	if salt, err = bytesOf("salt", saltText, minSalt, maxSalt); err != nil {
		return nil, nil, err
	}
	tag, err = bytesOf("tag", tagText, minTag, maxTag)
	return salt, tag, err
}

// parseBetterAuth reads "salt:key". The salt is the hexadecimal text itself.
func parseBetterAuth(salt, key string) (verifier, error) {
	tag, err := hex.DecodeString(key)
	if _, saltErr := hex.DecodeString(salt); err != nil || saltErr != nil || len(tag) != 64 {
		return verifier{}, notSupported("unknown format")
	}
	return scryptOf(16384, "16", "1", []byte(salt), tag, compatible)
}

// scryptOf returns the verifier of a scrypt hash. It refuses parameters and salts beyond
// the limits.
func scryptOf(n uint64, rText, pText string, salt, tag []byte, texts func(string) []string) (verifier, error) {
	r, err := number("r", rText, 1<<10)
	if err != nil {
		return verifier{}, err
	}
	p, err := number("p", pText, maxThreads)
	if err != nil {
		return verifier{}, err
	}
	if bytes := 128 * n * r; n < 2 || n&(n-1) != 0 || bytes > maxKiB<<10 {
		return verifier{}, notSupported("scrypt: N is %s, r is %d", strconv.FormatUint(n, 10), r)
	}
	if len(salt) < minSalt || len(salt) > maxSalt {
		return verifier{}, notSupported("salt has %d bytes", len(salt))
	}
	return compared(tag, int64(128*n*r), texts, func(text string) ([]byte, error) {
		return scrypt.Key([]byte(text), salt, int(n), int(r), int(p), len(tag))
	}), nil
}
