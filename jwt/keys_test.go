package jwt_test

import (
	"errors"
	"testing"

	"github.com/latchkeyhq/latchkey/jwt"
)

func TestOnePurpose(t *testing.T) {
	salts := []string{
		"authjs.session-token", "__Secure-authjs.session-token", "authjs.state", "authjs.nonce",
		"authjs.pkce.code_verifier", "authjs.challenge", "encodedState", "encodedWebauthnChallenge", "",
	}
	for _, made := range salts {
		token := seal(t, jwt.NewCodec([]string{secret}, made), object)
		for _, read := range salts {
			c := jwt.NewCodec([]string{secret}, read)
			t.Run("R-087 sealed for "+made+", opened for "+read, func(t *testing.T) {
				if made == read {
					mustOpen(t, c, token, object)
				} else {
					mustRefuse(t, c, token)
				}
			})
		}
	}
	t.Run("R-087 also when the token does not say whose it is", func(t *testing.T) {
		token := forger{tb: t, secret: secret, salt: "authjs.state"}.cbc(`{"alg":"dir","enc":"A256CBC-HS512"}`, object)
		mustRefuse(t, jwt.NewCodec([]string{secret}, salt), token)
	})
}

func TestRotation(t *testing.T) {
	secrets := []string{"the third secret", "the second secret", "the first secret"}
	c := jwt.NewCodec(secrets, salt)
	t.Run("R-090 new tokens use the first secret", func(t *testing.T) {
		mustOpen(t, jwt.NewCodec(secrets[:1], salt), seal(t, c, object), object)
	})
	for _, s := range secrets {
		f := forger{tb: t, secret: s, salt: salt}
		t.Run("R-090 opens under "+s, func(t *testing.T) {
			mustOpen(t, c, f.cbc(f.header(), object), object)
			mustOpen(t, c, f.cbc(`{"kid":"`+f.kid(64)+`","alg":"dir","enc":"A256CBC-HS512"}`, object), object)
			mustOpen(t, c, f.gcm(`{"alg":"dir","enc":"A256GCM","kid":"`+f.kid(32)+`"}`, object, 32), object)
		})
	}
	t.Run("R-090 a removed secret is dead at once", func(t *testing.T) {
		mustRefuse(t, jwt.NewCodec(secrets[:2], salt), seal(t, jwt.NewCodec(secrets[2:], salt), object))
	})
	older := forger{tb: t, secret: secrets[1], salt: salt}
	t.Run("R-090 without kid only the first secret is tried", func(t *testing.T) {
		mustRefuse(t, c, older.cbc(`{"alg":"dir","enc":"A256CBC-HS512"}`, object))
		mustRefuse(t, c, older.gcm(`{"alg":"dir","enc":"A256GCM"}`, object, 32))
	})
	t.Run("R-090 a kid that matches none is not tried", func(t *testing.T) {
		newest := forger{tb: t, secret: secrets[0], salt: salt}
		mustRefuse(t, c, newest.cbc(`{"alg":"dir","enc":"A256CBC-HS512","kid":"x"}`, object))
		mustRefuse(t, c, newest.cbc(older.header(), object))
	})
	t.Run("later changes of the caller's list have no effect", func(t *testing.T) {
		list := []string{"the third secret", "the second secret"}
		c := jwt.NewCodec(list, salt)
		token := seal(t, c, object)
		list[0], list[1] = "changed", "changed"
		mustOpen(t, c, older.cbc(older.header(), object), object)
		mustOpen(t, c, token, object)
	})
}

func TestBlankSecrets(t *testing.T) {
	for policy, secrets := range map[string][]string{
		"R-091 none":                nil,
		"R-091 empty":               {""},
		"R-091 white":               {" \t\n"},
		"R-091 empty inside a list": {secret, ""},
		"R-091 white in front":      {" ", secret},
	} {
		t.Run(policy, func(t *testing.T) {
			c := jwt.NewCodec(secrets, salt)
			if token, err := c.Seal([]byte(object)); !errors.Is(err, jwt.ErrNoSecret) || token != "" {
				t.Errorf("Seal = %q, %v", token, err)
			}
			if payload, err := c.Open("a.b.c.d.e"); !errors.Is(err, jwt.ErrNoSecret) || payload != nil {
				t.Errorf("Open = %q, %v", payload, err)
			}
		})
	}
}
