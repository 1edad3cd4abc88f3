package vault

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// Transport adds an account's access token to requests, as a bearer token (RFC 6750). It
// is safe for concurrent use. Base, Now and Token have to be set.
type Transport struct {
	Base http.RoundTripper
	Now  func() time.Time
	// Token returns an access token. rejected is one that the API has refused.
	Token func(ctx context.Context, rejected string) (storage.Tokens, error)

	mu     sync.Mutex
	cached storage.Tokens
	until  time.Time
}

// cachedFor is how long a transport uses a token without asking for it again.
const cachedFor = time.Minute

// errPlainHTTP refuses to send a token in clear.
var errPlainHTTP = errors.New("latchkey: provider tokens are sent over https only (http on loopback hosts)")

// RoundTrip implements [http.RoundTripper]. After the status 401 it asks Token once for
// another token and repeats the request, if the body can be sent again. If Token has no
// other one, it returns the 401. It returns an error for a request over http to a host
// that is not a loopback host, and the error of Token. A request that follows a redirect
// to another host, or from https to http, goes out without the token.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if leavesHost(r) {
		return t.Base.RoundTrip(r)
	}
	if r.URL.Scheme != "https" && !(r.URL.Scheme == "http" && isLoopback(r.URL.Hostname())) {
		closeBody(r)
		return nil, errPlainHTTP
	}
	token, err := t.token(r.Context(), "")
	if err != nil {
		closeBody(r)
		return nil, err
	}
	res, err := t.send(r, token)
	if err != nil || res.StatusCode != http.StatusUnauthorized {
		return res, err
	}
	again, ok := repeat(r)
	if !ok {
		return res, nil
	}
	fresh, err := t.token(r.Context(), token)
	if err != nil || fresh == token {
		closeBody(again)
		return res, nil // the refusal tells the caller more than the error
	}
	res.Body.Close()
	return t.send(again, fresh)
}

// send sends a copy of r with the token in its Authorization header. It leaves r as it
// is.
func (t *Transport) send(r *http.Request, token string) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.Header.Set("Authorization", "Bearer "+token)
	return t.Base.RoundTrip(out)
}

// token returns the cached token, or else the one that Token returns, which it caches for
// at most a minute. It does not return rejected from its cache; an empty rejected
// excludes nothing.
func (t *Transport) token(ctx context.Context, rejected string) (string, error) {
	now := t.Now()
	t.mu.Lock()
	cached, good := t.cached, now.Before(t.until)
	t.mu.Unlock()
	if good && cached.AccessToken != rejected {
		return cached.AccessToken, nil
	}
	fresh, err := t.Token(ctx, rejected)
	if err != nil {
		return "", err
	}
	until := now.Add(cachedFor)
	if !fresh.ExpiresAt.IsZero() {
		if end := fresh.ExpiresAt.Add(-defaultMinLife); end.Before(until) {
			until = end
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cached, t.until = fresh, until
	return fresh.AccessToken, nil
}

// leavesHost reports whether a request follows a redirect to another host than the
// caller asked, or from https to http.
func leavesHost(r *http.Request) bool {
	first := r
	for first.Response != nil && first.Response.Request != nil {
		first = first.Response.Request
	}
	return first.URL.Host != r.URL.Host || first.URL.Scheme == "https" && r.URL.Scheme != "https"
}

// repeat returns a request like r with an unread body, which can be sent after r. It
// returns false if the body cannot be read again.
func repeat(r *http.Request) (*http.Request, bool) {
	if r.Body == nil || r.Body == http.NoBody {
		return r, true
	}
	if r.GetBody == nil {
		return nil, false
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, false
	}
	again := r.Clone(r.Context())
	again.Body = body
	return again, true
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		r.Body.Close()
	}
}

// isLoopback reports whether a host is localhost or a loopback IP address.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() && net.ParseIP(host) != nil
}
