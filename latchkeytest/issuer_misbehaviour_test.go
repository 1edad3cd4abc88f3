package latchkeytest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// header is the protected header of a token.
func header(t *testing.T, token string) jose.Header {
	t.Helper()
	parsed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.RS256, jose.HS256, jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Signatures[0].Protected
}

func TestMisbehaviourOfIDTokens(t *testing.T) {
	iss := latchkeytest.NewIssuer(t)
	p := newParty(t, iss)
	good := header(t, text(p.signIn(), "id_token"))
	accepts := func(token string) bool { _, err := p.verify(token); return err == nil }
	verified := func(token string) map[string]any {
		claims, err := p.verify(token)
		if err != nil {
			t.Error(err)
		}
		return claims
	}
	for name, row := range map[string]struct {
		bad  latchkeytest.Misbehaviour
		does func(token string) bool
	}{
		"R-018 damaged signature": {latchkeytest.Misbehaviour{Sign: latchkeytest.SignDamaged}, func(token string) bool {
			return !accepts(token) && header(t, token).KeyID == good.KeyID
		}},
		"R-018 another key in the name of the published one": {latchkeytest.Misbehaviour{Sign: latchkeytest.SignOtherKey}, func(token string) bool {
			return !accepts(token) && header(t, token).KeyID == good.KeyID
		}},
		"R-019 unsigned": {latchkeytest.Misbehaviour{Sign: latchkeytest.SignNone}, func(token string) bool {
			return strings.HasSuffix(token, ".") && strings.Count(token, ".") == 2
		}},
		"R-021 another published algorithm": {latchkeytest.Misbehaviour{Sign: latchkeytest.SignOtherAlg}, func(token string) bool {
			_, err := p.verify(token, jose.ES256)
			return err == nil && !accepts(token)
		}},
		"R-021 HS256 with the client secret": {latchkeytest.Misbehaviour{Sign: latchkeytest.SignSecret}, func(token string) bool {
			parsed, _ := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.HS256})
			_, err := parsed.Verify([]byte(iss.Provider().ClientSecret))
			return err == nil
		}},
		"R-021 HS256 with the public key": {latchkeytest.Misbehaviour{Sign: latchkeytest.SignPublicKey}, func(token string) bool {
			return header(t, token).Algorithm == "HS256" && !accepts(token)
		}},
		"R-023 key in the header": {latchkeytest.Misbehaviour{Header: func(h map[string]any) { h["jku"] = "https://evil.example" }}, func(token string) bool {
			return header(t, token).ExtraHeaders["jku"] == "https://evil.example" && accepts(token)
		}},
		"R-025 another issuer": {latchkeytest.Misbehaviour{IDToken: func(c map[string]any) { c["iss"] = "https://evil.example" }}, func(token string) bool {
			return verified(token)["iss"] == "https://evil.example"
		}},
		"R-033 no subject": {latchkeytest.Misbehaviour{IDToken: func(c map[string]any) { delete(c, "sub") }}, func(token string) bool {
			_, there := verified(token)["sub"]
			return !there
		}},
		"R-038 not a token": {latchkeytest.Misbehaviour{RawIDToken: func(token string) string { return token + ".more" }}, func(token string) bool {
			return strings.HasSuffix(token, ".more")
		}},
		"R-039 no kid": {latchkeytest.Misbehaviour{Header: func(h map[string]any) { delete(h, "kid") }}, func(token string) bool {
			return header(t, token).KeyID == ""
		}},
		"R-040 unpublished key": {latchkeytest.Misbehaviour{Sign: latchkeytest.SignUnknownKey}, func(token string) bool {
			return !accepts(token) && header(t, token).KeyID != good.KeyID && header(t, token).KeyID != ""
		}},
	} {
		t.Run(name, func(t *testing.T) {
			iss.Misbehave(row.bad)
			token := text(p.signIn(), "id_token")
			iss.Misbehave(latchkeytest.Misbehaviour{})
			if !row.does(token) {
				t.Errorf("token %s", token)
			}
		})
	}
}

func TestMisbehaviourOfDocuments(t *testing.T) {
	iss := latchkeytest.NewIssuer(t)
	p := newParty(t, iss)
	spoil := func(members map[string]any) { members["spoilt"] = true }
	iss.Misbehave(latchkeytest.Misbehaviour{Discovery: spoil, JWKS: spoil, Token: spoil, UserInfo: spoil})
	answer := p.signIn()
	if answer["spoilt"] != true {
		t.Error("token answer is not spoilt")
	}
	for _, path := range []string{latchkeytest.PathDiscovery, latchkeytest.PathJWKS, latchkeytest.PathUserInfo} {
		_, body := p.do(http.MethodGet, iss.URL+path, nil, http.Header{"Authorization": {"Bearer " + text(answer, "access_token")}})
		if p.object(body)["spoilt"] != true {
			t.Errorf("%s is not spoilt: %s", path, body)
		}
	}
}

func TestMisbehaviourOfCallbacks(t *testing.T) {
	iss := latchkeytest.NewIssuer(t)
	p := newParty(t, iss)
	iss.Misbehave(latchkeytest.Misbehaviour{Callback: func(q url.Values) {
		q["code"] = append(q["code"], "second")
		q.Set("iss", "https://evil.example")
		q.Del("state")
	}})
	back := p.authorize()
	if len(back["code"]) != 2 || back.Get("iss") != "https://evil.example" || back.Has("state") {
		t.Errorf("got %v", back)
	}
}

func TestKeysCanRotateInTheMiddle(t *testing.T) {
	iss := latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) { c.Algorithm = "ES256" })
	p := newParty(t, iss)
	before := header(t, text(p.signIn(), "id_token")).KeyID
	iss.Misbehave(latchkeytest.Misbehaviour{Before: func(path string) {
		if path == latchkeytest.PathToken {
			if err := iss.RotateKeys(); err != nil {
				t.Error(err)
			}
		}
	}})
	if after := header(t, text(p.signIn(), "id_token")).KeyID; after == before {
		t.Error("the key is the old one")
	}
}

func TestMisbehaviourOfAnswers(t *testing.T) {
	iss := latchkeytest.NewIssuer(t)
	get := func(ctx context.Context, a latchkeytest.Answer) (*http.Response, string, error) {
		iss.Misbehave(latchkeytest.Misbehaviour{Answers: map[string]latchkeytest.Answer{latchkeytest.PathJWKS: a}})
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, iss.URL+latchkeytest.PathJWKS, nil)
		client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		resp, err := client.Do(req)
		if err != nil {
			return nil, "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return resp, string(body), err
	}
	t.Run("status, header and body", func(t *testing.T) {
		a := latchkeytest.Answer{Status: 503, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<p>")}
		if resp, body, err := get(t.Context(), a); err != nil || resp.StatusCode != 503 || resp.Header.Get("Content-Type") != "text/html" || body != "<p>" {
			t.Errorf("%v %q %v", resp, body, err)
		}
	})
	t.Run("empty body", func(t *testing.T) {
		if resp, body, err := get(t.Context(), latchkeytest.Answer{Body: []byte{}}); err != nil || resp.StatusCode != 200 || body != "" {
			t.Errorf("%v %q %v", resp, body, err)
		}
	})
	t.Run("R-047 redirect", func(t *testing.T) {
		if resp, _, err := get(t.Context(), latchkeytest.Answer{Redirect: "https://evil.example/"}); err != nil || resp.StatusCode != 302 || resp.Header.Get("Location") != "https://evil.example/" {
			t.Errorf("%v %v", resp, err)
		}
	})
	t.Run("padded", func(t *testing.T) {
		if _, body, err := get(t.Context(), latchkeytest.Answer{Pad: 3 << 20}); err != nil || len(body) < 3<<20 || !strings.HasPrefix(body, "{") {
			t.Errorf("%d bytes, %v", len(body), err)
		}
	})
	t.Run("truncated", func(t *testing.T) {
		if _, body, err := get(t.Context(), latchkeytest.Answer{Truncate: true}); !errors.Is(err, io.ErrUnexpectedEOF) || body == "" {
			t.Errorf("%d bytes, %v", len(body), err)
		}
	})
	t.Run("dropped", func(t *testing.T) {
		if _, _, err := get(t.Context(), latchkeytest.Answer{Drop: true}); err == nil {
			t.Error("answered")
		}
	})
	t.Run("hanging", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, _, err := get(ctx, latchkeytest.Answer{Hang: true}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
	t.Run("delayed", func(t *testing.T) {
		if resp, _, err := get(t.Context(), latchkeytest.Answer{Delay: time.Millisecond}); err != nil || resp.StatusCode != 200 {
			t.Errorf("%v %v", resp, err)
		}
	})
	t.Run("good again", func(t *testing.T) {
		if _, body, err := get(t.Context(), latchkeytest.Answer{}); err != nil || !strings.Contains(body, "keys") {
			t.Errorf("%q %v", body, err)
		}
	})
}

func TestCloseEndsWhatHangs(t *testing.T) {
	iss, err := latchkeytest.StartIssuer(latchkeytest.IssuerConfig{Algorithm: "ES256"})
	if err != nil {
		t.Fatal(err)
	}
	arrived := make(chan bool)
	iss.Misbehave(latchkeytest.Misbehaviour{
		Before:  func(string) { close(arrived) },
		Answers: map[string]latchkeytest.Answer{latchkeytest.PathJWKS: {Hang: true}},
	})
	failed := make(chan error)
	go func() {
		resp, err := http.Get(iss.URL + latchkeytest.PathJWKS)
		if err == nil {
			resp.Body.Close()
		}
		failed <- err
	}()
	<-arrived
	iss.Close()
	iss.Close() // once more is harmless
	if err := <-failed; err == nil {
		t.Error("answered")
	}
}
