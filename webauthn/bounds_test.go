package webauthn_test

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	cryptorand "crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/webauthn"
)

// steps returns how often a property test tries, and where its randomness begins.
func steps(t *testing.T, usual int) (n int, random *rand.Rand) {
	t.Helper()
	seed, n := race.Steps(t, usual)
	return n, rand.New(rand.NewPCG(seed, 0))
}

func randomBytes(random *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

// anyKey returns a COSE key that an attacker might make: of any kind, algorithm and
// size, nearly right or not at all.
func anyKey(random *rand.Rand) map[int]any {
	algorithms := []int{-7, -8, -35, -36, -257, -37, -47, -65535, 0}
	k := map[int]any{3: algorithms[random.IntN(len(algorithms))]}
	switch k[1] = 1 + random.IntN(3); k[1] {
	case 1:
		k[-1], k[-2] = 6, anyEdwards(random)
		if random.IntN(4) > 0 {
			k[3] = -8
		}
	case 2:
		x, y := anyPoint(random)
		k[-1], k[-2], k[-3] = 1, x, y
		if random.IntN(4) > 0 {
			k[3] = -7
		}
	case 3:
		k[-1], k[-2] = anyModulus(random), anyExponent(random)
		if random.IntN(4) > 0 {
			k[3] = -257
		}
	}
	if random.IntN(4) == 0 {
		k[-70000-random.IntN(9)] = randomBytes(random, random.IntN(2000))
	}
	return k
}

func anyModulus(random *rand.Rand) []byte {
	bits := []int{0, 1024, 2047, 2048, 3072, 4096, 4097, 8192, 40_000, 100_000}[random.IntN(10)]
	if bits == 0 {
		return []byte{}
	}
	n := new(big.Int).SetBytes(randomBytes(random, bits/8+1))
	n.SetBit(n.Rsh(n, uint(n.BitLen()-min(bits, n.BitLen()))), bits-1, 1)
	n.SetBit(n, 0, uint(min(1, random.IntN(6))))
	return append(make([]byte, random.IntN(2)*random.IntN(9)), n.Bytes()...)
}

func anyExponent(random *rand.Rand) []byte {
	return [][]byte{{1, 0, 1}, {1, 0, 1}, {1, 0, 1}, {3}, {1}, {0}, {}, {1, 0, 0}, {0x7f, 0xff, 0xff, 0xff}, {0x80, 0, 0, 1}, bytes.Repeat([]byte{0xff}, 8), bytes.Repeat([]byte{0xff}, 500)}[random.IntN(12)]
}

func anyPoint(random *rand.Rand) (x, y []byte) {
	k, err := ecdh.P256().NewPrivateKey(randomBytes(random, 32))
	if err != nil { // the number is above the order of the curve
		return anyPoint(random)
	}
	point := k.PublicKey().Bytes()[1:]
	x, y = point[:32], point[32:]
	if random.IntN(2) == 0 {
		y[random.IntN(32)] ^= byte(1 + random.IntN(255))
	}
	return x, y
}

func anyEdwards(random *rand.Rand) []byte {
	small := smallOrder()
	if random.IntN(2) == 0 {
		return small[random.IntN(len(small))]
	}
	key := randomBytes(random, 32)
	if random.IntN(2) == 0 {
		key = ed25519.NewKeyFromSeed(key).Public().(ed25519.PublicKey)
	}
	return key
}

// smallOrder returns the encodings of the eight points of small order, and those in
// which y or the sign of x is not as it must be.
func smallOrder() (all [][]byte) {
	p := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	eighth, _ := new(big.Int).SetString("05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826", 16)
	for _, y := range []*big.Int{big.NewInt(0), big.NewInt(1), new(big.Int).Sub(p, big.NewInt(1)), eighth, new(big.Int).Sub(p, eighth), p, new(big.Int).Add(p, big.NewInt(1))} {
		for _, sign := range []byte{0, 0x80} {
			encoded := y.FillBytes(make([]byte, 32))
			slices.Reverse(encoded)
			encoded[31] |= sign
			all = append(all, encoded)
		}
	}
	return all
}

// isSound says what a key must be for a signature by it to be worth something, and
// its verification cheap.
func isSound(k map[int]any) bool {
	if len(k) != map[int]int{1: 4, 2: 5, 3: 4}[k[1].(int)] {
		return false
	}
	switch alg := k[3].(int); k[1] {
	case 1:
		return alg == -8 && !slices.ContainsFunc(smallOrder(), func(bad []byte) bool { return bytes.Equal(bad, k[-2].([]byte)) })
	case 2:
		_, err := ecdh.P256().NewPublicKey(slices.Concat([]byte{4}, k[-2].([]byte), k[-3].([]byte)))
		return alg == -7 && err == nil
	}
	n, e := new(big.Int).SetBytes(k[-1].([]byte)), new(big.Int).SetBytes(k[-2].([]byte))
	return k[3] == -257 && n.BitLen() >= 2048 && n.BitLen() <= 4096 && n.Bit(0) == 1 && e.Bit(0) == 1 && e.BitLen() <= 31 && e.Cmp(big.NewInt(3)) >= 0
}

// TestAnyKey: R-522. Of keys that an unauthenticated client makes up, whatever they
// are, only sound ones are stored, and they are small. Before, it found RSA of
// 100,000 bits, even moduli and exponents, members of any size, keys of another kind
// than their algorithm, and Ed25519 keys for which a signature can be made without
// a private key.
func TestAnyKey(t *testing.T) {
	s := newSite(t, nil)
	n, random := steps(t, 120)
	accepted := 0
	for range n {
		k := anyKey(random)
		b, a := s.visit()
		a.Misbehave(key(func(own map[int]any) {
			clear(own)
			for label, value := range k {
				own[label] = value
			}
		}))
		p := b.TryRegisterPasskey(a, fmt.Sprintf("eve%d@example.com", accepted))
		if p.Error() != "" {
			continue
		}
		accepted++
		if !isSound(k) {
			t.Errorf("R-522 registered %v", k)
		}
	}
	for _, row := range s.store.Contents().Authenticators {
		if len(row.PublicKey) > 600 {
			t.Errorf("R-523 a key of %d bytes is stored", len(row.PublicKey))
		}
	}
	if accepted == 0 {
		t.Error("no key was sound")
	}
}

// TestStoredKeys: R-522. A key that was stored before there were limits costs no
// verification either.
func TestStoredKeys(t *testing.T) {
	v := readVectors(t).Vectors[0]
	stored := must(v.register(webauthn.Ceremony{}))
	for name, k := range map[string]map[int]any{
		"RSA of 100,000 bits": {1: 3, 3: -257, -1: bytes.Repeat([]byte{0xff}, 12_500), -2: []byte{1, 0, 1}},
		"RSA of 1,024 bits":   {1: 3, 3: -257, -1: bytes.Repeat([]byte{0xff}, 128), -2: []byte{1, 0, 1}},
		"RSA for ES256":       {1: 3, 3: -7, -1: bytes.Repeat([]byte{0xff}, 256), -2: []byte{1, 0, 1}},
		"a small order":       {1: 1, 3: -8, -1: 6, -2: smallOrder()[0]},
	} {
		stored.PublicKey = must(webauthncbor.Marshal(k))
		if err := v.authenticate(stored); err == nil || !strings.Contains(err.Error(), "the stored public key cannot be used") {
			t.Errorf("R-522 %s: %v", name, err)
		}
	}
}

// TestNothingIsVerifiedUnasked: R-522. A site that asked for no attestation
// verifies none, and tells CheckAttestation so.
func TestNothingIsVerifiedUnasked(t *testing.T) {
	var seen []webauthn.Attestation
	s := newSite(t, func(_ *latchkey.Config, p *latchkey.WebAuthn) {
		p.Ceremony = webauthn.Ceremony{CheckAttestation: func(_ context.Context, a webauthn.Attestation) error {
			seen = append(seen, a)
			return nil
		}}
	})
	for format, statement := range map[string]map[string]any{
		"packed": {"alg": -7, "sig": []byte("no signature"), "x5c": []any{[]byte("no certificate")}},
		"tpm":    {}, "android-safetynet": {"ver": "1", "response": []byte("no token")}, "wax seal": {"x": 1},
	} {
		b, a := s.visit()
		a.Misbehave(attestation(func(object map[string]any) { object["fmt"], object["attStmt"] = format, statement }))
		b.RegisterPasskey(a, strings.ReplaceAll(format, " ", "-")+"@example.com")
	}
	if len(seen) != 4 {
		t.Fatalf("judged %d times", len(seen))
	}
	for _, a := range seen {
		if a.Format != "none" || a.Type != "none" || a.Statement != nil || a.Certificates != nil {
			t.Errorf("R-522 CheckAttestation got %+v", a)
		}
	}
}

// TestStatementsAreBounded: R-522. Where a site asks for attestation, certificates
// have the limits of keys, and the format of a service that has ended is refused.
func TestStatementsAreBounded(t *testing.T) {
	s := exampleSite(t)
	for name, f := range map[string]bad{
		"nine certificates": statement(func(m map[string]any) { m["x5c"] = slices.Repeat(m["x5c"].([]any), 9) }),
		"RSA of 16,384 bits": statement(func(m map[string]any) {
			m["x5c"] = []any{m["x5c"].([]any)[0], certificateOf(t, bytes.Repeat([]byte{0xff}, 2048))}
		}),
		"RSA of 1,024 bits": statement(func(m map[string]any) { m["x5c"] = []any{certificateOf(t, bytes.Repeat([]byte{0xff}, 128))} }),
		"android-safetynet": attestation(func(o map[string]any) {
			o["fmt"], o["attStmt"] = "android-safetynet", map[string]any{"ver": "1", "response": []byte("x")}
		}),
		"more than 16 KiB":      statement(func(m map[string]any) { m["more"] = make([]byte, 16<<10) }),
		"client data of 9 KiB":  {RawClientData: func(b []byte) []byte { return append(b, bytes.Repeat([]byte(" "), 9<<10)...) }},
		"an answer over 64 KiB": answered(func(m map[string]any) { m["more"] = strings.Repeat("x", 64<<10) }),
	} {
		t.Run("R-522 "+name, func(t *testing.T) {
			a := latchkeytest.NewAuthenticator("https://example.org")
			a.Attestation = "basic"
			b, _ := s.visit()
			a.Misbehave(f)
			data := must(a.Create(b.PasskeyOptions(a, "register", "eve@example.com").Body))
			post := []byte(`{"action":"register","csrfToken":"` + b.CSRFToken() + `","data":` + strconv.Quote(string(data)) + `}`)
			refused(t, b, b.Fetch(http.MethodPost, "/auth/callback/passkey", post, http.Header{"Content-Type": {"application/json"}, "Sec-Fetch-Mode": {"navigate"}}))
			s.holds(t, 0, 0)
		})
	}
}

// TestUserIsVerified: R-528. Both providers demand that the authenticator verifies
// its user, unless a field says otherwise.
func TestUserIsVerified(t *testing.T) {
	for name, provider := range map[string]*latchkey.WebAuthn{
		"Passkey": webauthn.Passkey(latchkey.WebAuthn{}), "Provider": webauthn.Provider(latchkey.WebAuthn{ID: "passkey"}),
	} {
		t.Run("R-528 "+name, func(t *testing.T) {
			s := newSite(t, func(c *latchkey.Config, _ *latchkey.WebAuthn) { c.Providers = []latchkey.Provider{provider} })
			b, a := s.visit()
			a.Unverified = true
			o, _ := ask(t, b, "?action=register&email=eve@example.com")
			if o.Options.Selection.UserVerification != "required" {
				t.Errorf("asks for a user verification that is %q", o.Options.Selection.UserVerification)
			}
			s.refusesRegistration(t, a, bad{Unchecked: true})
			_, good := s.member("ada@example.com")
			good.Unverified = true
			thief, _ := s.visit()
			good.Misbehave(bad{Unchecked: true})
			refused(t, thief, thief.TryPasskey(good, ""))
		})
	}
}

// certificateOf returns a certificate for an RSA key of that modulus.
func certificateOf(t testing.TB, modulus []byte) []byte {
	t.Helper()
	signer := must(ecdsa.GenerateKey(elliptic.P256(), cryptorand.Reader))
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	return must(x509.CreateCertificate(cryptorand.Reader, template, template, &rsa.PublicKey{N: new(big.Int).SetBytes(modulus), E: 65537}, signer))
}
