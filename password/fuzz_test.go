package password

import (
	"errors"
	"strings"
	"testing"
)

// FuzzParse reads hashes that an attacker wrote into a store. Whatever is accepted is
// within the limits, and nothing is computed yet.
func FuzzParse(f *testing.F) {
	for _, hash := range []string{
		"$argon2id$v=19$m=64,t=1,p=1,keyid=MQ$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA", "argon2$argon2i$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA",
		"$2b$04$" + strings.Repeat("a", 53), "bcrypt$$2b$04$" + strings.Repeat("a", 53), "pbkdf2_sha1$1$salt$aGFzaGhhc2hoYXNoaGFzaGhhc2g=",
		"scrypt$2$salt$1$1$aGFzaGhhc2hoYXNoaGFzaA==", "$scrypt$ln=1,r=1,p=1$c2FsdA$aGFzaGhhc2hoYXNoaGFzaA",
		"$pbkdf2-sha256$i=1$c2FsdA$aGFzaGhhc2hoYXNoaGFzaA", "aabbccdd:" + strings.Repeat("ab", 64),
	} {
		if _, err := (Options{}).parse(hash); err != nil && !strings.Contains(hash, "keyid") {
			f.Fatalf("%s: %v", hash, err)
		}
		f.Add(hash)
	}
	o := Options{Peppers: []Pepper{{ID: "1", Key: make([]byte, 32)}}}
	f.Fuzz(func(t *testing.T, hash string) {
		v, err := o.parse(hash)
		if err != nil {
			if !errors.Is(err, ErrHash) && !strings.Contains(err.Error(), "pepper") {
				t.Errorf("%q: %v", hash, err)
			}
			return
		}
		if v.bytes > maxKiB<<10 || v.check == nil || v.texts == nil {
			t.Errorf("%q is accepted: %d bytes", hash, v.bytes)
		}
	})
}
