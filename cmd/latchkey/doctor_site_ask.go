package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// stamp is what an answer says of the clock of its server.
type stamp struct {
	stated time.Time     // zero: nothing
	seen   time.Time     // the middle between question and answer
	trip   time.Duration // from question to answer
}

// skew returns how far the server's clock is ahead of the one here; negative: behind.
// known is false if the answer does not state its time.
func (s stamp) skew() (ahead time.Duration, known bool) {
	if s.stated.IsZero() {
		return 0, false
	}
	return s.stated.Sub(s.seen.Truncate(time.Second)), true
}

// siteAnswer is an answer of a site, up to mostAnswer bytes of its body.
type siteAnswer struct {
	status int
	header http.Header
	body   []byte
	stamp  stamp
	err    error // no answer, or one that breaks the bounds
}

// siteQuestion is a request of a probe.
type siteQuestion struct {
	method, url string
	host        string // in place of that of the URL; empty: none
	header      http.Header
	form        url.Values
	cookies     map[string]string
	alone       bool // the connection is closed after the answer
}

// Errors of answers that break the bounds.
var (
	errEndless   = fmt.Errorf("the answer is longer than %d bytes", mostAnswer)
	errRedirects = fmt.Errorf("more than %d redirects", mostRedirects)
)

// ask sends a question. It follows the redirects of a GET within the origin of its URL,
// and answers with errRedirects after too many. It returns a redirect to another origin
// as the answer.
func (s *siteProbe) ask(ctx context.Context, q siteQuestion) siteAnswer {
	if q.method == "" {
		q.method = http.MethodGet
	}
	for range mostRedirects + 1 {
		a := s.askOnce(ctx, q)
		to := a.header.Get("Location")
		if a.err != nil || a.status < 300 || a.status > 399 || to == "" || q.method != http.MethodGet {
			return a
		}
		next, err := url.Parse(q.url)
		if err == nil {
			next, err = next.Parse(to)
		}
		if err != nil || next.Scheme+"://"+next.Host != originOf(q.url) {
			return a
		}
		q.url = next.String()
	}
	return siteAnswer{err: errRedirects}
}

// originOf returns the scheme and host of a URL, or "" if it is malformed.
func originOf(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// askOnce sends a question and follows no redirect. An answer of more than mostAnswer
// bytes has the error errEndless.
func (s *siteProbe) askOnce(ctx context.Context, q siteQuestion) (a siteAnswer) {
	var body io.Reader
	if q.form != nil {
		body = strings.NewReader(q.form.Encode())
	}
	r, err := http.NewRequestWithContext(ctx, q.method, q.url, body)
	if err != nil {
		return siteAnswer{err: errors.New("the URL is none")}
	}
	for name, values := range q.header {
		r.Header[name] = values
	}
	r.Close = q.alone
	r.Header.Set("User-Agent", "latchkey doctor")
	if r.Host = r.URL.Host; q.host != "" {
		r.Host = q.host
	}
	if q.form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range q.cookies {
		r.Header["Cookie"] = []string{strings.TrimPrefix(strings.Join(r.Header["Cookie"], "")+"; "+name+"="+value, "; ")}
	}
	begun := s.now()
	res, err := s.network.RoundTrip(r)
	if err != nil {
		return siteAnswer{err: err}
	}
	defer func() { _ = res.Body.Close() }()
	trip := s.now().Sub(begun)
	a = siteAnswer{status: res.StatusCode, header: res.Header, stamp: stamp{seen: begun.Add(trip / 2), trip: trip}}
	if at, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		a.stamp.stated = at
	}
	a.body, err = io.ReadAll(io.LimitReader(res.Body, mostAnswer+1))
	if err != nil {
		a.err = err
	} else if len(a.body) > mostAnswer {
		a.err = errEndless
	}
	return a
}

// decode decodes the JSON of the body into v. It returns false if there is no answer, its
// status is not 200, or its body is no JSON that fits v.
func (a *siteAnswer) decode(v any) bool {
	return a.err == nil && a.status == http.StatusOK && json.Unmarshal(a.body, v) == nil
}

// said describes an answer that is not the expected one, for a line of the report: why
// there is none, or its status and what it holds.
func (a *siteAnswer) said() string {
	if a.err != nil {
		return whyNot(a.err)
	}
	text := fmt.Sprintf("status %d", a.status)
	if to := a.header.Get("Location"); to != "" && a.status >= 300 && a.status < 400 {
		return text + " to " + quoted(originOf(to))
	}
	if kind := a.header.Get("Content-Type"); kind != "" {
		text += " with " + quoted(kind)
	}
	return text
}

// whyNot returns a text for a line of the report that says why a request got no answer.
func whyNot(err error) string {
	var host x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.As(err, &host):
		return "the certificate is for another name"
	case errors.As(err, &unknown):
		return "the certificate is signed by an authority that this machine does not know"
	case errors.As(err, &invalid):
		return "the certificate is not valid now, or not for a server"
	case errors.As(err, &record):
		return "no TLS is spoken there"
	case errors.Is(err, errEndless), errors.Is(err, errRedirects):
		return err.Error()
	}
	return quoted(err.Error())
}

// quoted returns a text of a server for a line of the report: cut to mostPrinted bytes,
// and with all but printable ASCII escaped.
func quoted(text string) string {
	if len(text) > mostPrinted {
		text = text[:mostPrinted] + "…"
	}
	return fmt.Sprintf("%+q", text)
}
