package providers_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers"
	"github.com/latchkeyhq/latchkey/providers/catalogue"
)

// recorded is a provider as its documentation shows it: what it is asked, what
// it answers, and what becomes of that. It is all that the tests of this file
// and the next two know of a provider.
type recorded struct {
	Options struct{ Issuer, UserInfo, ClientID, ClientSecret, APIKey, Agent string } // what has to be set

	Authorize struct {
		URL      string
		Params   map[string]string // beside those of the protocol
		Without  []string          // of those of the protocol: code_challenge, state, nonce
		Whole    map[string]string // all of them, where the protocol is another one
		Fragment string
	}
	Callback map[string]string // parameters beside code and state
	// CallbackHMAC names a parameter that signs all others with the client's
	// secret (SHA-256, hex).
	CallbackHMAC string
	Token        scripted
	// OpenID Connect: what the ID token claims, its algorithm (empty: RS256) and
	// what the discovery document says beside the usual.
	IDToken    latchkey.Claims
	IDTokenAlg string
	Discovery  map[string]any
	Requests   []scripted // with the access token, in order
	Error      struct {
		At     string // "token", "authorize", or the URL of a request
		Status int
		Type   string
		Answer json.RawMessage
		Text   string
		Want   string // in the log
	}

	// Email says why the word of the provider about e-mail addresses is worth what
	// it is worth here, and where that is written.
	Email struct{ Why, Source string }

	Profile  latchkey.Claims // nil: the first answer with the access token, or else the ID token
	Added    latchkey.Claims // by the provider's function to that
	Identity latchkey.Identity
	Tokens   struct { // where it is not what the answer says
		AccessToken, RefreshToken, Scope string
	}
	ID       string // path of the id in the profile; empty: wherever Identity.Subject stands
	IDReason string // why something that looks like a handle is an id that never changes

	// Unlisted members of the profile that its type need not have, with the
	// reason.
	Untyped map[string]string
}

// scripted is one call and its answer.
type scripted struct {
	Method string            // empty: POST for the token, GET otherwise
	URL    string            // with the query
	Auth   string            // of a token request: basic (the default), post or none
	Header map[string]string // what has to be among the headers; an empty value: what must not
	Form   map[string]string // of a token request: beside the usual; of others: all
	Whole  map[string]string // all of the form
	Query  map[string]string // all of the query
	JSON   map[string]any    // all of the body

	Status int    // of the answer; 0: 200
	Type   string // empty: application/json
	Answer json.RawMessage
	Text   string // an answer that is no JSON
	JWT    bool   // the answer is signed
}

func (r *recorded) query() url.Values {
	q := url.Values{}
	for name, value := range r.Callback {
		q.Set(name, value)
	}
	r.sign(q)
	return q
}

// sign signs the parameters of a callback, for providers that do.
func (r *recorded) sign(q url.Values) {
	if r.CallbackHMAC == "" {
		return
	}
	q.Del(r.CallbackHMAC)
	mac := hmac.New(sha256.New, []byte(r.secret()))
	mac.Write([]byte(q.Encode()))
	q.Set(r.CallbackHMAC, hex.EncodeToString(mac.Sum(nil)))
}

func (r *recorded) secret() string { return or(r.Options.ClientSecret, "the client's secret") }

// recordText is the record of a provider.
func recordText(t testing.TB, id string) []byte {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + id + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func record(t testing.TB, id string) recorded {
	t.Helper()
	return parseRecord(t, recordText(t, id))
}

func parseRecord(t testing.TB, raw []byte) recorded {
	t.Helper()
	var r recorded
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}
	switch {
	case r.Profile != nil:
	case len(r.Requests) > 0:
		r.Profile = claimsIn(t, r.Requests[0].Answer)
	default:
		r.Profile = maps.Clone(r.IDToken)
	}
	maps.Copy(r.Profile, r.Added)
	return r
}

func claimsIn(t testing.TB, raw []byte) latchkey.Claims {
	t.Helper()
	var c latchkey.Claims
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&c); err != nil {
		t.Fatalf("%v in %.100s", err, raw)
	}
	return c
}

// provider is the entry's, with what the record says has to be set.
func (r *recorded) provider(e catalogue.Entry) *latchkey.OAuth {
	given := latchkey.OAuth{
		Issuer: r.Options.Issuer, UserInfo: latchkey.Endpoint{URL: r.Options.UserInfo},
		ClientID: or(r.Options.ClientID, "client"), ClientSecret: r.secret(),
	}
	if r.Options.APIKey != "" {
		given.FetchProfile = map[string]func(context.Context, *http.Client, latchkey.Tokens) (latchkey.Claims, error){
			"bungie": providers.BungieProfile(r.Options.APIKey), "stackexchange": providers.StackExchangeProfile(r.Options.APIKey),
		}[e.New(latchkey.OAuth{}).ID]
	}
	if r.Options.Agent != "" {
		given.Authorization = providers.WeComAgent(r.Options.Agent)
	}
	return e.New(given)
}

// derived is what New makes of a provider, but for the environment.
func (r *recorded) derived(t *testing.T, e catalogue.Entry) *latchkey.OAuth {
	t.Helper()
	p := r.provider(e)
	if p.Derive == nil {
		return p
	}
	if err := p.Derive(p); err != nil {
		t.Fatal(err)
	}
	return p
}

func or(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}

// idPath is where the id stands in the profile.
func (r *recorded) idPath() string {
	if r.ID != "" {
		return r.ID
	}
	var found []string
	for _, l := range leaves(r.Profile) {
		if textOf(l.value) == r.Identity.Subject {
			found = append(found, l.path)
		}
	}
	slices.SortFunc(found, func(a, b string) int {
		return cmp.Or(strings.Count(a, ".")-strings.Count(b, "."), strings.Compare(a, b))
	})
	if len(found) == 0 {
		return ""
	}
	return found[0]
}
