package providers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
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

// get calls an API of the provider with the person's access token. Redirects
// are answers: following one would hand the token to whoever is named there
// (RFC 9700 section 4.12).
func get(ctx context.Context, c *http.Client, target string, t latchkey.Tokens) (*answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, errors.New("providers: the URL is malformed")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Authorization", "Bearer "+t.AccessToken)
	req.Header.Set("User-Agent", "latchkey")
	stay := *c
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

// getObject is get for an answer that has to be a success and a JSON object.
func getObject(ctx context.Context, c *http.Client, target string, t latchkey.Tokens) (latchkey.Claims, error) {
	a, err := get(ctx, c, target, t)
	if err != nil {
		return nil, err
	}
	if !a.isOK() {
		return nil, fmt.Errorf("providers: the profile was answered with status %d", a.status)
	}
	return object(a.body)
}

// callError keeps what helps of a failed call: *url.Error repeats the query,
// and net/http quotes malformed answers.
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

// object reads exactly one JSON object. Names and the digits of numbers stay as
// they are; text that is not UTF-8 is refused, because the decoder would
// replace it and make one id of two.
func object(data []byte) (latchkey.Claims, error) {
	var c latchkey.Claims
	if err := decode(data, &c); err != nil || c == nil {
		return nil, errors.New("providers: the answer is not a JSON object")
	}
	return c, nil
}

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

// endpointURL is an endpoint's URL with its parameters in the query.
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
