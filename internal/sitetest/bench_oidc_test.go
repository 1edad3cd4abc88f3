package sitetest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// BenchmarkOIDC is a whole sign-in at the scripted issuer: begin, authorize,
// callback with the token request and the ID token. Most of it is the issuer's
// signature; the baseline pays for that too.
func BenchmarkOIDC(b *testing.B) {
	issuer := latchkeytest.NewIssuer(b)
	auth := benchAuth(b, func(c *latchkey.Config) { c.Providers = []latchkey.Provider{issuer.Provider()} })
	for _, bench := range []struct {
		name    string
		handler http.Handler
	}{
		{"handwritten", newHandwrittenRP(b, issuer)},
		{"latchkey", auth},
	} {
		b.Run(bench.name, func(b *testing.B) {
			site := httptest.NewServer(bench.handler)
			defer site.Close()
			client := &http.Client{
				Transport:     &http.Transport{MaxIdleConnsPerHost: 8},
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			}
			b.ReportAllocs()
			for b.Loop() {
				benchSignIn(b, client, site.URL, issuer.Provider().ID)
			}
		})
	}
}

func benchSignIn(b *testing.B, client *http.Client, site, provider string) {
	csrf := strings.Repeat("a", 64)
	form := strings.NewReader("csrfToken=" + csrf + "&callbackUrl=%2F")
	r, _ := http.NewRequest(http.MethodPost, site+"/auth/signin/"+provider, form)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Cookie", signedInCookies(b, alice()))
	begun := benchDo(b, client, r)
	r, _ = http.NewRequest(http.MethodGet, begun.Header.Get("Location"), nil)
	authorized := benchDo(b, client, r)
	r, _ = http.NewRequest(http.MethodGet, authorized.Header.Get("Location"), nil)
	for _, c := range begun.Cookies() {
		r.AddCookie(c)
	}
	done := benchDo(b, client, r)
	for _, c := range done.Cookies() {
		if c.Name == benchCookie && c.Value != "" {
			return
		}
	}
	b.Fatalf("not signed in: %s %s", done.Status, done.Header.Get("Location"))
}

func benchDo(b *testing.B, client *http.Client, r *http.Request) *http.Response {
	res, err := client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	return res
}

// handwrittenRP is a relying party for this one issuer and nothing else.
type handwrittenRP struct {
	*handwritten
	provider         *latchkey.OAuth
	authorize, token string
	key              *rsa.PublicKey
}

func newHandwrittenRP(b *testing.B, issuer *latchkeytest.Issuer) http.Handler {
	var metadata struct {
		Authorize string `json:"authorization_endpoint"`
		Token     string `json:"token_endpoint"`
		JWKS      string `json:"jwks_uri"`
	}
	benchJSON(b, issuer.URL+latchkeytest.PathDiscovery, &metadata)
	var keys struct{ Keys []struct{ Kty, N, E string } }
	benchJSON(b, metadata.JWKS, &keys)
	rp := &handwrittenRP{handwritten: newHandwritten(), provider: issuer.Provider(), authorize: metadata.Authorize, token: metadata.Token}
	for _, k := range keys.Keys {
		if k.Kty == "RSA" {
			n, _ := base64.RawURLEncoding.DecodeString(k.N)
			e, _ := base64.RawURLEncoding.DecodeString(k.E)
			rp.key = &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /auth/signin/{provider}", rp.begin)
	mux.HandleFunc("GET /auth/callback/{provider}", rp.callback)
	return mux
}

func benchJSON(b *testing.B, from string, into any) {
	res, err := http.Get(from)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		b.Fatal(err)
	}
}

func (rp *handwrittenRP) begin(w http.ResponseWriter, r *http.Request) {
	if r.ParseForm() != nil || r.PostForm.Get("csrfToken") == "" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	verifier := rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	held, _ := json.Marshal(map[string]any{"value": verifier, "exp": time.Now().Add(15 * time.Minute).Unix()})
	http.SetCookie(w, &http.Cookie{Name: "pkce", Value: rp.seal(held), Path: "/", HttpOnly: true})
	query := url.Values{
		"response_type": {"code"}, "client_id": {rp.provider.ClientID}, "scope": {"openid profile email"},
		"redirect_uri": {"http://" + r.Host + "/auth/callback/" + rp.provider.ID}, "code_challenge_method": {"S256"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])},
	}
	w.Header().Set("Location", rp.authorize+"?"+query.Encode())
	w.WriteHeader(http.StatusFound)
}

func (rp *handwrittenRP) callback(w http.ResponseWriter, r *http.Request) {
	c, err := r.Cookie("pkce")
	if err != nil {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	payload, err := rp.open(c.Value)
	var held struct{ Value string }
	if err != nil || json.Unmarshal(payload, &held) != nil {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	claims, ok := rp.redeem(r, held.Value)
	if !ok {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	now := time.Now()
	expires := now.Add(rp.deadline)
	token := rp.renew(map[string]any{"sub": claims["sub"], "name": claims["name"], "email": claims["email"]}, now, expires)
	rp.setCookie(w, token, expires)
	http.SetCookie(w, &http.Cookie{Name: "pkce", Path: "/", MaxAge: -1})
	w.Header().Set("Location", "/")
	w.WriteHeader(http.StatusFound)
}

func (rp *handwrittenRP) redeem(r *http.Request, verifier string) (map[string]any, bool) {
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {r.URL.Query().Get("code")}, "code_verifier": {verifier},
		"redirect_uri": {"http://" + r.Host + "/auth/callback/" + rp.provider.ID},
	}
	req, _ := http.NewRequestWithContext(r.Context(), http.MethodPost, rp.token, strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(url.QueryEscape(rp.provider.ClientID), url.QueryEscape(rp.provider.ClientSecret))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, false
	}
	defer res.Body.Close()
	var answer struct {
		IDToken string `json:"id_token"`
	}
	if json.NewDecoder(res.Body).Decode(&answer) != nil {
		return nil, false
	}
	io.Copy(io.Discard, res.Body)
	parts := strings.Split(answer.IDToken, ".")
	if len(parts) != 3 {
		return nil, false
	}
	signature, _ := base64.RawURLEncoding.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if rsa.VerifyPKCS1v15(rp.key, crypto.SHA256, sum[:], signature) != nil {
		return nil, false
	}
	payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
	var claims map[string]any
	return claims, json.Unmarshal(payload, &claims) == nil && claims["iss"] == rp.provider.Issuer
}
