package password

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Ceilings for the parameters of stored hashes. Whatever is above them is refused
// before anything is computed.
const (
	maxHash       = 1024 // bytes of a hash as it is stored
	maxKiB        = 256 << 10
	maxPasses     = 16
	maxThreads    = 16
	maxBcryptCost = 16
	maxIterations = 10_000_000
	minSalt       = 4
	maxSalt       = 64
	minTag        = 16
	maxTag        = 64
)

// verifier checks passwords against one stored hash.
type verifier struct {
	bytes int64                           // of memory for one check
	stale bool                            // new hashes are made otherwise
	texts func(password string) []string  // that the hash may have been made of
	check func(text string) (bool, error) // reports whether the hash was made of text
}

// fits reports whether the hash was made of a password. A password over maxBytes fits no
// hash. The error is that of check.
func (v verifier) fits(password string) (bool, error) {
	if len(password) > maxBytes {
		return false, nil
	}
	for _, text := range v.texts(password) {
		if ok, err := v.check(text); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// parsers are the formats, by what a hash begins with.
var parsers = []struct {
	prefix string
	parse  func(o Options, rest string) (verifier, error) // rest is without the prefix
}{
	{"$argon2id$", Options.parseArgon2id},
	{"$argon2i$", Options.parseArgon2i},
	{"argon2$argon2id$", Options.parseArgon2id}, // Django
	{"argon2$argon2i$", Options.parseArgon2i},
	{"$2a$", Options.parseBcrypt},
	{"$2b$", Options.parseBcrypt},
	{"$2y$", Options.parseBcrypt},
	{"bcrypt$$2", Options.parseDjangoBcrypt},
	{"bcrypt_sha256$$2", Options.parseDjangoBcryptSHA256},
	{"pbkdf2_sha256$", Options.parseDjangoPBKDF2SHA256},
	{"pbkdf2_sha1$", Options.parseDjangoPBKDF2SHA1},
	{"$pbkdf2-sha256$", Options.parsePBKDF2SHA256},
	{"scrypt$", Options.parseDjangoScrypt},
	{"$scrypt$", Options.parseScrypt},
}

// parse returns the verifier of a stored hash. It returns an error that wraps [ErrHash]
// and never holds the hash, or an error about a missing pepper.
func (o Options) parse(hash string) (verifier, error) {
	if len(hash) > maxHash {
		return verifier{}, notSupported("it has %d bytes", len(hash))
	}
	for prefix, verify := range o.Verify {
		if strings.HasPrefix(hash, prefix) {
			check := func(text string) (bool, error) { return verify(hash, text) }
			return verifier{stale: true, texts: asTyped, check: check}, nil
		}
	}
	for _, p := range parsers {
		if rest, ok := strings.CutPrefix(hash, p.prefix); ok {
			return p.parse(o, rest)
		}
	}
	if salt, key, ok := strings.Cut(hash, ":"); ok {
		return parseBetterAuth(salt, key)
	}
	return verifier{}, notSupported("unknown format")
}

// notSupported returns an error that wraps [ErrHash].
func notSupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrHash, fmt.Sprintf(format, args...))
}

// fields splits the rest of a hash at "$" into exactly n fields.
func fields(rest string, n int) ([]string, error) {
	parts := strings.Split(rest, "$")
	if len(parts) != n {
		return nil, notSupported("it has %d fields, want %d", len(parts), n)
	}
	return parts, nil
}

// parameters reads "m=1,t=2" of a PHC string. Each name may occur once, and only if it
// is allowed.
func parameters(text string, allowed ...string) (map[string]string, error) {
	values := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(pair, "=")
		if _, twice := values[name]; twice || value == "" || !slices.Contains(allowed, name) {
			return nil, notSupported("parameter %q is unknown, empty or repeated", name)
		}
		values[name] = value
	}
	return values, nil
}

// number reads a decimal number between 1 and most, without leading zeros or signs.
func number(name, text string, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 || text[0] == '0' || text[0] == '+' {
		return 0, notSupported("%s is no number", name)
	}
	if n > most {
		return 0, notSupported("%s is %d, the limit is %d", name, n, most)
	}
	return n, nil
}

// bytesOf decodes base64 with or without padding, and checks the length.
func bytesOf(name, text string, least, most int) ([]byte, error) {
	raw, err := base64.RawStdEncoding.Strict().DecodeString(strings.TrimRight(text, "="))
	if err != nil || len(raw) < least || len(raw) > most {
		return nil, notSupported("%s is not base64 of %d to %d bytes", name, least, most)
	}
	return raw, nil
}

// Format returns the name of the format of a stored hash, such as bcrypt. It returns an
// error that wraps [ErrHash] for a hash that a [Hasher] of the zero [Options] cannot
// check. For a hash that needs a pepper it returns another error, which names the pepper.
// A hash without a known prefix is one of better-auth or an error. The error does not
// hold the hash.
func Format(hash string) (string, error) {
	_, err := Options{}.parse(hash)
	if err != nil {
		return "", err
	}
	for _, p := range parsers {
		if strings.HasPrefix(hash, p.prefix) {
			return formatNames[p.prefix], nil
		}
	}
	return "better-auth", nil
}

// formatNames are the names of the formats, by what a hash begins with.
var formatNames = map[string]string{
	"$argon2id$": "argon2id", "$argon2i$": "argon2i", "argon2$argon2id$": "django argon2id", "argon2$argon2i$": "django argon2i",
	"$2a$": "bcrypt", "$2b$": "bcrypt", "$2y$": "bcrypt", "bcrypt$$2": "django bcrypt", "bcrypt_sha256$$2": "django bcrypt_sha256",
	"pbkdf2_sha256$": "django pbkdf2_sha256", "pbkdf2_sha1$": "django pbkdf2_sha1", "$pbkdf2-sha256$": "pbkdf2-sha256",
	"scrypt$": "django scrypt", "$scrypt$": "scrypt",
}
