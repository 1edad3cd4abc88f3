package oauth

import (
	"context"
	"crypto"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// tokenRequest makes an exchange and returns what the provider saw.
func tokenRequest(t *testing.T, f *fake, change func(*Config)) *http.Request {
	t.Helper()
	f.answer("/token", send(200, "application/json", tokenAnswer(nil)))
	if _, err := f.client(t, change).Exchange(t.Context(), "code", callback, "verifier", nil); err != nil {
		t.Fatal(err)
	}
	return f.last(t, "/token")
}

func TestR052ClientCredentials(t *testing.T) {
	f := newFake(t)
	t.Run("R-052 basic, form-encoded first", func(t *testing.T) {
		r := tokenRequest(t, f, func(c *Config) { c.ClientID = "id:with/odd chars" })
		encoded, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Basic ")
		pair, err := base64.StdEncoding.DecodeString(encoded)
		if want := url.QueryEscape("id:with/odd chars") + ":" + url.QueryEscape(secret); !ok || err != nil || string(pair) != want {
			t.Errorf("credentials %q, want %q", pair, want)
		}
		if r.PostForm.Has("client_secret") || r.PostForm.Has("client_id") {
			t.Errorf("credentials twice: %v", r.PostForm)
		}
	})
	t.Run("R-052 plain credentials stay as they are", func(t *testing.T) {
		r := tokenRequest(t, f, func(c *Config) { c.ClientID, c.ClientSecret = "fake-client", fixed("fake-secret") })
		if user, password, _ := r.BasicAuth(); user != "fake-client" || password != "fake-secret" {
			t.Errorf("got %q, %q", user, password)
		}
	})
	t.Run("R-052 post", func(t *testing.T) {
		r := tokenRequest(t, f, func(c *Config) { c.ClientAuth = ClientSecretPost })
		if r.PostForm.Get("client_id") != clientID || r.PostForm.Get("client_secret") != secret || r.Header.Get("Authorization") != "" {
			t.Errorf("unexpected request %v %v", r.PostForm, r.Header)
		}
	})
	t.Run("R-052 none", func(t *testing.T) {
		r := tokenRequest(t, f, func(c *Config) { c.ClientAuth = NoClientAuth })
		if r.PostForm.Get("client_id") != clientID || r.PostForm.Has("client_secret") || r.Header.Get("Authorization") != "" {
			t.Errorf("unexpected request %v %v", r.PostForm, r.Header)
		}
	})
	t.Run("second name of the client id", func(t *testing.T) {
		r := tokenRequest(t, f, func(c *Config) { c.ClientAuth, c.ClientIDParam = ClientSecretPost, "client_key" })
		if r.PostForm.Get("client_key") != clientID || r.PostForm.Get("client_id") != clientID {
			t.Errorf("unexpected form %v", r.PostForm)
		}
	})
	t.Run("R-052 no fallback to another method", func(t *testing.T) {
		f.answer("/token", send(401, "application/json", `{"error":"invalid_client"}`))
		before := f.hits("/token")
		if _, err := f.client(t).Exchange(t.Context(), "code", callback, "", nil); err == nil {
			t.Error("accepted")
		}
		if n := f.hits("/token") - before; n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestClientSecretIsAskedForEachTime(t *testing.T) {
	f := newFake(t)
	f.answer("/token", send(200, "application/json", tokenAnswer(nil)))
	made := 0
	c := f.client(t, func(c *Config) {
		c.ClientAuth = ClientSecretPost
		c.ClientSecret = func(context.Context) (string, error) { made++; return strings.Repeat("x", made), nil }
	})
	for range 2 {
		if _, err := c.Exchange(t.Context(), "code", callback, "", nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := f.last(t, "/token").PostForm.Get("client_secret"); got != "xx" {
		t.Errorf("second secret is %q", got)
	}
}

func TestClientSecretThatCannotBeHad(t *testing.T) {
	f := newFake(t)
	broken := errors.New("no key file")
	for name, secret := range map[string]func(context.Context) (string, error){
		"failing": func(context.Context) (string, error) { return "", broken },
		"empty":   fixed(""),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.client(t, func(c *Config) { c.ClientSecret = secret }).Exchange(t.Context(), "code", callback, "", nil)
			wantStep(t, err, StepToken, "client secret")
			if name == "failing" && !errors.Is(err, broken) {
				t.Errorf("the cause is lost: %v", err)
			}
		})
	}
	if n := f.hits("/token"); n != 0 {
		t.Errorf("%d token requests without a secret", n)
	}
}

func TestR053Assertions(t *testing.T) {
	f := newFake(t)
	long := strings.Repeat("secret-", 6)
	byKey := func(key crypto.Signer, alg string) func(*Config) {
		return func(c *Config) {
			c.ClientAuth, c.SigningKey, c.ClientSecret = PrivateKeyJWT, &SigningKey{Key: key, Alg: alg, ID: "my-key"}, nil
		}
	}
	for _, row := range []struct {
		name   string
		change func(*Config)
		alg    jose.SignatureAlgorithm
		key    any
	}{
		{"client_secret_jwt", func(c *Config) { c.ClientAuth, c.ClientSecret = ClientSecretJWT, fixed(long) }, jose.HS256, []byte(long)},
		{"RSA, default", byKey(rsaKey(), ""), jose.RS256, rsaKey().Public()},
		{"PS256", byKey(rsaKey(), "PS256"), jose.PS256, rsaKey().Public()},
		{"ECDSA, default", byKey(ecKey(), ""), jose.ES256, ecKey().Public()},
		{"Ed25519", byKey(edKey(), "EdDSA"), jose.EdDSA, edKey().Public()},
		{"R-368 Ed25519 by its own name", byKey(edKey(), "Ed25519"), algEd25519, edKey().Public()},
		{"a key elsewhere", byKey(elsewhere{rsaKey()}, "RS384"), jose.RS384, rsaKey().Public()},
	} {
		t.Run("R-053 "+row.name, func(t *testing.T) {
			seen := map[any]bool{}
			for range 2 {
				form := tokenRequest(t, f, row.change).PostForm
				if form.Get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" || form.Has("client_secret") {
					t.Fatalf("unexpected form %v", form)
				}
				jws, err := jose.ParseSignedCompact(form.Get("client_assertion"), []jose.SignatureAlgorithm{row.alg})
				if err != nil {
					t.Fatal(err)
				}
				if kid := jws.Signatures[0].Protected.KeyID; row.alg != jose.HS256 && kid != "my-key" {
					t.Errorf("kid = %q", kid)
				}
				payload, ok := (&compactToken{jws, form.Get("client_assertion")}).verify(row.key)
				if !ok {
					t.Fatal("the signature is wrong")
				}
				claims := must(decodeObject(payload))
				if claims["iss"] != clientID || claims["sub"] != clientID || claims["aud"] != f.URL {
					t.Errorf("unexpected claims %v", claims)
				}
				iat, _ := seconds(claims["iat"])
				exp, _ := seconds(claims["exp"])
				if exp <= iat || exp-iat > 300 {
					t.Errorf("lives from %v to %v", iat, exp)
				}
				if jti := claims["jti"]; jti == nil || seen[jti] {
					t.Errorf("jti %v is not fresh", jti)
				} else {
					seen[jti] = true
				}
			}
		})
	}
}

func TestR053AssertionAudience(t *testing.T) {
	f := newFake(t)
	for _, row := range []struct {
		name   string
		change func(*Config)
		want   []string
		array  bool
	}{
		{"the issuer", func(*Config) {}, []string{f.URL}, false},
		{"one of its own", func(c *Config) { c.AssertionAudience = []string{"https://a.example"} }, []string{"https://a.example"}, false},
		{
			"an array by option", func(c *Config) { c.AssertionAudience = []string{"https://a.example", "https://b.example"} },
			[]string{"https://a.example", "https://b.example"},
			true,
		},
		{"the configured issuer where the document has a template", func(c *Config) {
			c.MatchIssuer = func(string, map[string]any) bool { return true }
			c.Issuer += "/"
		}, []string{f.URL + "/"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			form := tokenRequest(t, f, func(c *Config) {
				c.ClientAuth, c.SigningKey = PrivateKeyJWT, &SigningKey{Key: ecKey()}
				row.change(c)
			}).PostForm
			jws := must(jose.ParseSignedCompact(form.Get("client_assertion"), []jose.SignatureAlgorithm{jose.ES256}))
			claims := must(decodeObject(jws.UnsafePayloadWithoutVerification()))
			got, ok := audienceOf(claims)
			if _, array := claims["aud"].([]any); !ok || array != row.array || !slices.Equal(got, row.want) {
				t.Errorf("aud = %v, want %v", claims["aud"], row.want)
			}
		})
	}
}

func TestAssertionWithAShortSecret(t *testing.T) {
	f := newFake(t)
	c := f.client(t, func(c *Config) { c.ClientAuth, c.ClientSecret = ClientSecretJWT, fixed("canary") })
	_, err := c.Exchange(t.Context(), "code", callback, "", nil)
	wantStep(t, err, StepToken, "32 bytes")
}
