package providers

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey"
)

// answer is a provider's complete answer to a call.
type answer struct {
	status int
	body   []byte
}

func (a *answer) isOK() bool { return a.status >= 200 && a.status <= 299 }

// maxAnswer bounds an answer, in bytes. The largest are pictures.
const maxAnswer = 1 << 20

// api makes calls to a provider with the access token of a person.
type api struct {
	client *http.Client
	tokens latchkey.Tokens
	user   latchkey.Endpoint // OAuth.UserInfo
}

// fetching gives o a FetchProfile that calls fetch, unless it has one, and returns o.
// fetch gets the UserInfo that o has now. Where endpoints follow from the issuer, Derive
// sets these and then calls fetching.
func fetching(o *latchkey.OAuth, fetch func(ctx context.Context, a api) (latchkey.Claims, error)) *latchkey.OAuth {
	if o.FetchProfile == nil {
		user := o.UserInfo
		o.FetchProfile = func(ctx context.Context, c *http.Client, t latchkey.Tokens) (latchkey.Claims, error) {
			return fetch(ctx, api{c, t, user})
		}
	}
	return o
}

// request returns a request with the person's access token as RFC 6750 says. The caller
// changes it for a provider that wants something else. body is sent as JSON, or nothing
// if it is nil.
func (a api) request(ctx context.Context, method, target string, body any) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, target, nil)
	if err != nil {
		return nil, errors.New("providers: the URL is malformed")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Authorization", "Bearer "+a.tokens.AccessToken)
	req.Header.Set("User-Agent", "latchkey")
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		setBody(req, "application/json", raw)
	}
	return req, nil
}

// call sends req and returns the answer, whatever its status. It follows no redirect, which
// would hand the token to another host (RFC 9700 section 4.12). An answer over maxAnswer is
// an error. Errors name the host, and repeat neither the rest of the URL nor the answer.
func (a api) call(req *http.Request) (*answer, error) {
	stay := *a.client
	stay.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := stay.Do(req)
	if err != nil {
		return nil, callError(req, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, callError(req, err)
	}
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("providers: the answer of %s is too large", req.URL.Host)
	}
	return &answer{resp.StatusCode, body}, nil
}

// get returns the answer of target, whatever its status.
func (a api) get(ctx context.Context, target string) (*answer, error) {
	req, err := a.request(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, err
	}
	return a.call(req)
}

// getObject returns the JSON object at target. It returns an error unless the status is
// a success.
func (a api) getObject(ctx context.Context, target string) (latchkey.Claims, error) {
	req, err := a.request(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, err
	}
	return a.object(req)
}

// userInfo returns the JSON object at OAuth.UserInfo. It returns an error unless the
// status is a success.
func (a api) userInfo(ctx context.Context) (latchkey.Claims, error) {
	return a.getObject(ctx, endpointURL(a.user))
}

// object sends req and returns the JSON object of the answer. It returns an error unless
// the status is a success.
func (a api) object(req *http.Request) (latchkey.Claims, error) {
	var c latchkey.Claims
	if err := a.into(&c, req); err != nil {
		return nil, err
	}
	if c == nil {
		return nil, errNoObject
	}
	return c, nil
}

// into sends req and decodes the JSON of the answer into value. It returns an error
// unless the status is a success.
func (a api) into(value any, req *http.Request) error {
	got, err := a.call(req)
	if err != nil {
		return err
	}
	if !got.isOK() {
		return fmt.Errorf("providers: the profile was answered with status %d", got.status)
	}
	if decode(got.body, value) != nil {
		return errNoObject
	}
	return nil
}

var errNoObject = errors.New("providers: the answer is not a JSON object")

// callError returns an error with the host and the kind of a failure. It wraps the error
// of a context and nothing else, since *url.Error repeats the query, and net/http quotes
// malformed answers.
func callError(req *http.Request, err error) error {
	for _, known := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return fmt.Errorf("providers: calling %s: %w", req.URL.Host, known)
		}
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fmt.Errorf("providers: the answer of %s is too large", req.URL.Host)
	}
	if network, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("providers: calling %s: network failure (%s)", req.URL.Host, network.Op)
	}
	return fmt.Errorf("providers: calling %s failed", req.URL.Host)
}

// object decodes exactly one JSON object, or returns errNoObject. Names and the digits of
// numbers stay as they are. It refuses data that is not UTF-8, because the decoder would
// replace the malformed bytes, and two different ids could become equal.
func object(data []byte) (latchkey.Claims, error) {
	var c latchkey.Claims
	if err := decode(data, &c); err != nil || c == nil {
		return nil, errNoObject
	}
	return c, nil
}

// decode decodes exactly one JSON value in UTF-8, with numbers as json.Number.
func decode(data []byte, into any) error {
	if !utf8.Valid(data) {
		return errors.New("not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows")
	}
	return nil
}

// endpointURL returns an endpoint's URL with its parameters in the query.
func endpointURL(e latchkey.Endpoint) string {
	u, err := url.Parse(e.URL)
	if err != nil || len(e.Params) == 0 {
		return e.URL
	}
	query := u.Query()
	for name, values := range e.Params {
		query[name] = values
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// tokenInQuery returns a function to pass to fetching, which gets UserInfo with the
// access token in this parameter of the URL, and not in a header.
func tokenInQuery(parameter string) func(context.Context, api) (latchkey.Claims, error) {
	return func(ctx context.Context, a api) (latchkey.Claims, error) {
		req, err := a.request(ctx, http.MethodGet, endpointURL(a.user), nil)
		if err != nil {
			return nil, err
		}
		req.Header.Del("Authorization")
		query := req.URL.Query()
		query.Set(parameter, a.tokens.AccessToken)
		req.URL.RawQuery = query.Encode()
		return a.object(req)
	}
}

// graphQL returns a function to pass to fetching. That function posts query to UserInfo.URL,
// without UserInfo.Params. Errors of GraphQL that come with a success are no error here.
func graphQL(query string) func(context.Context, api) (latchkey.Claims, error) {
	return func(ctx context.Context, a api) (latchkey.Claims, error) {
		req, err := a.request(ctx, http.MethodPost, a.user.URL, map[string]string{"query": query})
		if err != nil {
			return nil, err
		}
		return a.object(req)
	}
}

// idTokenOnly is a FetchProfile that returns the claims of the ID token. With it, Latchkey
// does not ask the userinfo endpoint for a claim that the scopes promise and the token lacks.
func idTokenOnly(_ context.Context, _ *http.Client, t latchkey.Tokens) (latchkey.Claims, error) {
	return claimsOf(t.IDToken)
}

// withHeader returns a function to pass to fetching. That function gets UserInfo with this
// header, which replaces one of the same name, such as Accept.
func withHeader(name, value string) func(context.Context, api) (latchkey.Claims, error) {
	return func(ctx context.Context, a api) (latchkey.Claims, error) {
		req, err := a.request(ctx, http.MethodGet, endpointURL(a.user), nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set(name, value)
		return a.object(req)
	}
}

// proven returns the e-mail of the first entry that is both verified and primary. If there is
// none, it returns that of the first verified entry, or else "". verified and primary name the
// flags. An unverified e-mail does not count, because a person can enter that of another.
func proven(list []any, verified, primary string) (email string) {
	for _, entry := range list {
		c, _ := entry.(map[string]any)
		target, _ := c["email"].(string)
		switch {
		case c[verified] != true:
		case c[primary] == true:
			return target
		case email == "":
			email = target
		}
	}
	return email
}

// below returns a Derive for providers with endpoints at paths below the issuer. It keeps
// endpoints that are set, and does nothing without an issuer.
func below(authorization, token, userInfo string) func(*latchkey.OAuth) error {
	return func(p *latchkey.OAuth) error {
		if p.Issuer == "" {
			return nil // New says what is missing
		}
		base := strings.TrimRight(p.Issuer, "/")
		p.Authorization.URL = cmp.Or(p.Authorization.URL, base+authorization)
		p.Token.URL = cmp.Or(p.Token.URL, base+token)
		p.UserInfo.URL = cmp.Or(p.UserInfo.URL, base+userInfo)
		return nil
	}
}
