package providers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Providers that revoke tokens in another way than RFC 7009.

// revoke revokes t at the provider.
type revoke = func(ctx context.Context, c *http.Client, t latchkey.Tokens) error

// revocation returns the function that revokes tokens of p. It is called when the client
// id of p is known.
type revocation func(p *latchkey.OAuth) revoke

// revoking gives p a Derive and returns p. That Derive sets Revoke to what how returns, unless
// Revoke or Revocation is set. In both cases it then calls the former Derive of p.
func revoking(p *latchkey.OAuth, how revocation) *latchkey.OAuth {
	former := p.Derive
	p.Derive = func(d *latchkey.OAuth) error {
		if d.Revoke == nil && d.Revocation.URL == "" {
			d.Revoke = how(d)
		}
		if former == nil {
			return nil
		}
		return former(d)
	}
	return p
}

// bare returns a request without a token and without a body, which asks for JSON.
func bare(ctx context.Context, method, target string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, target, nil)
	if err != nil {
		return nil, errors.New("providers: the URL is malformed")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "latchkey")
	return req, nil
}

// endedByBearer calls an endpoint that revokes the access token which the call carries. It
// returns what ended returns, which is nil for a success and for the status 401 and 404.
func endedByBearer(ctx context.Context, c *http.Client, method, target string, t latchkey.Tokens) error {
	req, err := bare(ctx, method, target)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+t.AccessToken)
	return ended(c, req, "", nil)
}

// ended sends a request that revokes tokens, with url.Values as a form and any other body as
// JSON; nil: none. It returns nil for a success, and for 401 and 404, which it takes for ended
// tokens, but not for 401 if the request has the client's secret: that may be the wrong one. A success with "ok": false is an error, unless "error" is a code of Slack for ended
// tokens. Any other status is an error. No error repeats what the provider says.
func ended(c *http.Client, req *http.Request, contentType string, body any) error {
	_, _, hasSecret := req.BasicAuth()
	switch body := body.(type) {
	case nil:
	case url.Values:
		hasSecret = hasSecret || body.Has("client_secret")
		setBody(req, contentType, []byte(body.Encode()))
	default:
		raw, err := json.Marshal(body)
		if err != nil {
			return errors.New("providers: the request cannot be written as JSON")
		}
		setBody(req, contentType, raw)
	}
	res, err := c.Do(req)
	if err != nil {
		return errors.New("providers: the provider was not reached")
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err != nil {
		return errors.New("providers: the answer ended early")
	}
	var said struct {
		OK    *bool  `json:"ok"`
		Error string `json:"error"`
	}
	_ = json.Unmarshal(raw, &said)
	switch {
	case res.StatusCode == http.StatusUnauthorized && !hasSecret, res.StatusCode == http.StatusNotFound:
		return nil
	case res.StatusCode < 200 || res.StatusCode > 299:
		return fmt.Errorf("providers: the tokens were not revoked: status %d", res.StatusCode)
	case said.OK != nil && !*said.OK && said.Error != "invalid_auth" && said.Error != "token_revoked" && said.Error != "not_authed":
		return errors.New("providers: the tokens were not revoked")
	}
	return nil
}
