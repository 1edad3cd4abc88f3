package jwt_test

import (
	"strings"
	"testing"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/latchkeyhq/latchkey/jwt"
)

func TestGoJoseOpensOurs(t *testing.T) {
	c := jwt.NewCodec([]string{secret}, salt)
	f := forger{tb: t, secret: secret, salt: salt}
	for size := range 100 {
		payload := strings.Repeat("x", size)
		o, err := jose.ParseEncryptedCompact(seal(t, c, payload), []jose.KeyAlgorithm{jose.DIRECT}, []jose.ContentEncryption{jose.A256CBC_HS512})
		if err != nil {
			t.Fatal(err)
		}
		got, err := o.Decrypt(f.key(64))
		if err != nil || string(got) != payload {
			t.Fatalf("Decrypt = %q, %v", got, err)
		}
		if o.Header.KeyID != f.kid(64) {
			t.Errorf("kid = %q", o.Header.KeyID)
		}
	}
}

func TestWeOpenGoJoses(t *testing.T) {
	c := jwt.NewCodec([]string{secret}, salt)
	f := forger{tb: t, secret: secret, salt: salt}
	for _, tt := range []struct {
		policy string
		enc    jose.ContentEncryption
		size   int
		kid    string
		zip    jose.CompressionAlgorithm
		ok     bool
	}{
		{"A256CBC-HS512", jose.A256CBC_HS512, 64, f.kid(64), jose.NONE, true},
		{"A256CBC-HS512 without kid", jose.A256CBC_HS512, 64, "", jose.NONE, true},
		{"A256GCM", jose.A256GCM, 32, f.kid(32), jose.NONE, true},
		{"A256GCM without kid", jose.A256GCM, 32, "", jose.NONE, true},
		{"R-081 compressed", jose.A256CBC_HS512, 64, f.kid(64), jose.DEFLATE, false},
		{"R-081 A128CBC-HS256", jose.A128CBC_HS256, 32, "", jose.NONE, false},
		{"R-081 A192CBC-HS384", jose.A192CBC_HS384, 48, "", jose.NONE, false},
		{"R-081 A128GCM", jose.A128GCM, 16, "", jose.NONE, false},
		{"R-081 A192GCM", jose.A192GCM, 24, "", jose.NONE, false},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			options := &jose.EncrypterOptions{Compression: tt.zip}
			if tt.kid != "" {
				options = options.WithHeader("kid", tt.kid)
			}
			e, err := jose.NewEncrypter(tt.enc, jose.Recipient{Algorithm: jose.DIRECT, Key: f.key(tt.size)}, options)
			if err != nil {
				t.Fatal(err)
			}
			for size := range 40 {
				payload := strings.Repeat("x", size)
				o, err := e.Encrypt([]byte(payload))
				if err != nil {
					t.Fatal(err)
				}
				token, err := o.CompactSerialize()
				if err != nil {
					t.Fatal(err)
				}
				if tt.ok {
					mustOpen(t, c, token, payload)
				} else {
					mustRefuse(t, c, token)
				}
			}
		})
	}
}

func TestWrappedKeysAreRefused(t *testing.T) {
	c := jwt.NewCodec([]string{secret}, salt)
	f := forger{tb: t, secret: secret, salt: salt}
	for _, alg := range []jose.KeyAlgorithm{jose.A256KW, jose.A256GCMKW, jose.PBES2_HS512_A256KW} {
		t.Run("R-081 "+string(alg), func(t *testing.T) {
			e, err := jose.NewEncrypter(jose.A256CBC_HS512, jose.Recipient{Algorithm: alg, Key: f.key(32), PBES2Count: 1000}, nil)
			if err != nil {
				t.Fatal(err)
			}
			o, err := e.Encrypt([]byte(object))
			if err != nil {
				t.Fatal(err)
			}
			token, err := o.CompactSerialize()
			if err != nil {
				t.Fatal(err)
			}
			mustRefuse(t, c, token)
		})
	}
}
