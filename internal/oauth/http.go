package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxHeader bounds the headers of one answer, in bytes.
const maxHeader = 64 << 10

// answer is one complete answer of the provider.
type answer struct {
	status    int
	mediaType string // without parameters, lower case; empty if malformed
	header    http.Header
	body      []byte
}

// backChannel calls the provider, within the limits of a Config.
type backChannel struct {
	http   *http.Client
	config *Config
}

// newBackChannel returns a back channel with a copy of c.HTTP that follows no redirects
// and keeps no cookies. A client or transport that is nil becomes one of ownTransport.
// To follow a redirect would hand codes, secrets and tokens to the server that it names
// (RFC 9700 section 4.12).
func newBackChannel(c *Config) *backChannel {
	var client http.Client
	if c.HTTP != nil {
		client = *c.HTTP
	}
	if client.Transport == nil {
		client.Transport = ownTransport()
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Jar = nil
	return &backChannel{&client, c}
}

// ownTransport returns a copy of the default transport with a limit for headers. It
// returns the default transport itself if the program has replaced that.
func ownTransport() http.RoundTripper {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport // replaced by the program; it knows better
	}
	own := standard.Clone()
	own.MaxResponseHeaderBytes = maxHeader
	return own
}

// failure returns a *StepError with the text, the status of a, and the wait that a asks
// for by Retry-After. now is the time at which a came.
func (a *answer) failure(step Step, text string, now time.Time) error {
	return &StepError{Step: step, Status: a.status, Err: errors.New(text), wait: askedToWait(a.header, now)}
}

// mostRequests bounds the requests for a document that has been moved.
const mostRequests = 4

// getWithinOrigin gets a JSON document by GET. It follows redirects to the same server:
// some servers add a slash to the path. Use it only where neither the request nor the
// document holds a secret. It returns what get returns for the last request. For a
// redirect elsewhere, and if the last of mostRequests requests is redirected, it returns
// an error and no answer.
func (b *backChannel) getWithinOrigin(ctx context.Context, step Step, endpoint string) (*answer, error) {
	for range mostRequests {
		a, err := b.get(ctx, step, endpoint, acceptJSON())
		if !errors.Is(err, errRedirect) {
			return a, err
		}
		next, ok := withinOrigin(endpoint, a.header.Get("Location"))
		if !ok {
			return nil, err
		}
		endpoint = next
	}
	return nil, fail(step, "too many redirects")
}

// withinOrigin returns the target of a redirect from the URL from. location may be
// relative to from. ok is false if the target has another scheme, host or port, or
// userinfo.
func withinOrigin(from, location string) (to string, ok bool) {
	base, err := url.Parse(from)
	if err != nil || location == "" {
		return "", false
	}
	target, err := base.Parse(location)
	if err != nil || target.Scheme != base.Scheme || target.Host != base.Host || target.User != nil {
		return "", false
	}
	return target.String(), true
}

// get sends a GET request. A status such as 404 is no error, but a redirect is errRedirect.
func (b *backChannel) get(ctx context.Context, step Step, endpoint string, header http.Header) (*answer, error) {
	return b.call(ctx, step, http.MethodGet, endpoint, header, nil)
}

// post sends form by a POST request. It sets the Content-Type in header. A status such as
// 400 is no error, but a redirect is errRedirect.
func (b *backChannel) post(ctx context.Context, step Step, endpoint string, header http.Header, form url.Values) (*answer, error) {
	header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.call(ctx, step, http.MethodPost, endpoint, header, strings.NewReader(form.Encode()))
}

var errRedirect = errors.New("redirects are not followed")

// call makes one request and reads the whole answer, within the limits. It calls
// Config.Trace before and after. It changes header, which must not be nil. Every status
// but a redirect is an answer without an error, so the caller checks the status. A
// redirect is errRedirect. Beside an error, call returns the status and the headers of an
// answer that cannot be used, or nil if there was no answer. Every error is a *StepError.
func (b *backChannel) call(ctx context.Context, step Step, method, endpoint string, header http.Header, body io.Reader) (*answer, error) {
	if b.config.Trace == nil {
		return b.send(ctx, step, method, endpoint, header, body)
	}
	ctx, end := b.config.Trace(ctx, Call{step, method, endpoint, header, reasonIn(ctx)})
	a, err := b.send(ctx, step, method, endpoint, header, body)
	if a == nil {
		end(0, nil, err)
	} else {
		end(a.status, a.header, err)
	}
	return a, err
}

// reasonKey is where a context has the reason for which keys are fetched.
type reasonKey struct{}

// reasonIn returns the reason in ctx for which keys are fetched, or "".
func reasonIn(ctx context.Context) string {
	reason, _ := ctx.Value(reasonKey{}).(string)
	return reason
}

// send does what call does, without Trace. It limits the call to CallTimeout.
func (b *backChannel) send(ctx context.Context, step Step, method, endpoint string, header http.Header, body io.Reader) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, b.config.CallTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, endpoint, body)
	if err != nil {
		return nil, fail(step, "the URL is malformed")
	}
	req.Header = header
	req.Header.Set("User-Agent", "latchkey")
	resp, err := b.http.Do(req)
	if err != nil {
		return nil, &StepError{Step: step, Err: fmt.Errorf("%s: %w", req.URL.Hostname(), transportError(err))}
	}
	defer resp.Body.Close()
	a := &answer{status: resp.StatusCode, header: resp.Header}
	if err := b.read(resp, a); err != nil {
		return a, &StepError{Step: step, Status: a.status, Err: err}
	}
	return a, nil
}

// read reads the body and the media type of an answer into a, whose status is set. It
// returns errRedirect for a redirect. It returns an error, too, if the headers or the
// body are larger than allowed, or if the body cannot be read.
func (b *backChannel) read(resp *http.Response, a *answer) (err error) {
	if a.status >= 300 && a.status < 400 {
		return errRedirect
	}
	if headerSize(resp.Header) > maxHeader {
		return errors.New("the headers are too large")
	}
	a.body, err = io.ReadAll(io.LimitReader(resp.Body, b.config.MaxBody+1))
	if err != nil {
		return transportError(err)
	}
	if int64(len(a.body)) > b.config.MaxBody {
		a.body = nil
		return errors.New("the answer is too large")
	}
	a.mediaType, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return nil
}

// headerSize returns the size of h in bytes, as HTTP/1.1 sends it.
func headerSize(h http.Header) (size int) {
	for name, values := range h {
		for _, value := range values {
			size += len(name) + len(value) + len(": \r\n")
		}
	}
	return size
}
