package latchkeytest_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

const (
	callback = "https://app.example/auth/callback/issuer"
	verifier = "a-verifier-of-more-than-forty-three-characters-0123456789"
)

// party is a relying party written by hand, which checks nothing on its own.
type party struct {
	t    *testing.T
	iss  *latchkeytest.Issuer
	http *http.Client
}

func newParty(t *testing.T, iss *latchkeytest.Issuer) *party {
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &party{t, iss, &http.Client{CheckRedirect: stay}}
}

func (p *party) do(method, target string, form url.Values, header http.Header) (*http.Response, []byte) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, target, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := p.http.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp, body
}

// object reads a JSON answer.
func (p *party) object(body []byte) map[string]any {
	p.t.Helper()
	var members map[string]any
	if err := json.Unmarshal(body, &members); err != nil {
		p.t.Fatalf("no JSON object: %s", body)
	}
	return members
}

// request is an authorization request that is in order, with changes.
func (p *party) request(changes ...string) url.Values {
	challenge := sha256.Sum256([]byte(verifier))
	q := url.Values{
		"client_id": {"client"}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"openid"},
		"state": {"the state"}, "nonce": {"the nonce"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}, "code_challenge_method": {"S256"},
	}
	return change(q, changes)
}

// change sets names to values, given in turn; "-" deletes.
func change(q url.Values, changes []string) url.Values {
	for i := 0; i < len(changes); i += 2 {
		q.Set(changes[i], changes[i+1])
		if changes[i+1] == "-" {
			q.Del(changes[i])
		}
	}
	return q
}

// authorize returns the parameters of the authorization response.
func (p *party) authorize(changes ...string) url.Values {
	p.t.Helper()
	resp, body := p.do(http.MethodGet, p.iss.URL+latchkeytest.PathAuthorize+"?"+p.request(changes...).Encode(), nil, nil)
	to, err := resp.Location()
	if err != nil {
		p.t.Fatalf("no redirect but %d: %s", resp.StatusCode, body)
	}
	if base := *to; !strings.HasPrefix(base.String(), callback+"?") {
		p.t.Fatalf("sent to %s", to)
	}
	return to.Query()
}

func (p *party) basic() http.Header {
	o := p.iss.Provider()
	pair := url.QueryEscape(o.ClientID) + ":" + url.QueryEscape(o.ClientSecret)
	return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(pair))}}
}

// exchange spends a code.
func (p *party) exchange(code string, changes ...string) (int, map[string]any) {
	p.t.Helper()
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {verifier}}
	resp, body := p.do(http.MethodPost, p.iss.URL+latchkeytest.PathToken, change(form, changes), p.basic())
	return resp.StatusCode, p.object(body)
}

// signIn runs a whole sign-in and returns the token answer.
func (p *party) signIn() map[string]any {
	p.t.Helper()
	status, answer := p.exchange(p.authorize().Get("code"))
	if status != http.StatusOK {
		p.t.Fatalf("token endpoint answered %d: %v", status, answer)
	}
	return answer
}

func (p *party) userInfo(token string) (*http.Response, []byte) {
	p.t.Helper()
	return p.do(http.MethodGet, p.iss.URL+latchkeytest.PathUserInfo, nil, http.Header{"Authorization": {"Bearer " + token}})
}

// verify opens an ID token with the published keys.
func (p *party) verify(idToken string, algs ...jose.SignatureAlgorithm) (map[string]any, error) {
	p.t.Helper()
	if algs == nil {
		algs = []jose.SignatureAlgorithm{jose.RS256}
	}
	token, err := jose.ParseSignedCompact(idToken, algs)
	if err != nil {
		return nil, err
	}
	_, body := p.do(http.MethodGet, p.iss.URL+latchkeytest.PathJWKS, nil, nil)
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(body, &set); err != nil {
		p.t.Fatal(err)
	}
	payload, err := token.Verify(set)
	if err != nil {
		return nil, err
	}
	return p.object(payload), nil
}

func text(members map[string]any, name string) string {
	s, _ := members[name].(string)
	return s
}
