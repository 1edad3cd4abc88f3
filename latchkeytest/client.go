package latchkeytest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// clientTimeout bounds one request of a Client, so that a site that hangs fails
// its test before the test's own deadline.
const clientTimeout = 30 * time.Second

const userAgent = "Mozilla/5.0 (latchkeytest)"

// Client is a browser with one site open. It keeps the site's cookies and sends
// them as browsers do, Secure ones also to loopback hosts without TLS, and
// SameSite ones only where they belong: an [Issuer] counts as another site. It
// never follows a redirect by itself, so that each answer can be looked at.
//
// Failures to get an answer at all end the test. Like a [testing.T], a Client
// belongs to one goroutine.
type Client struct {
	hidden

	URL      string // the site's origin, without a slash at the end
	BasePath string // of Latchkey's routes; /auth unless changed
	// Person is the subject that is chosen where a provider offers several
	// people. Empty: the first.
	Person string
	// Transport makes the requests. The constructors set one whose connections end
	// with the test. A test may wrap or replace it.
	Transport http.RoundTripper

	t    testing.TB
	site *url.URL
	jar  map[string]*http.Cookie
}

// NewClient serves site on a loopback port until the test ends and opens it. The
// port is not known before, so the site's Config has no Site.URL, but
// "127.0.0.1:*" in Site.AllowedHosts.
func NewClient(t testing.TB, site http.Handler) *Client {
	t.Helper()
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	return NewClientAt(t, server.URL)
}

// NewClientAt opens a site that is served already, in a browser without any
// cookies. siteURL is its origin, such as "http://127.0.0.1:8080".
func NewClientAt(t testing.TB, siteURL string) *Client {
	t.Helper()
	site, err := url.Parse(siteURL)
	if err != nil || site.Host == "" {
		t.Fatalf("latchkeytest: %q is no origin", siteURL)
	}
	transport := &http.Transport{} // of its own: connections end with the test
	t.Cleanup(transport.CloseIdleConnections)
	return &Client{
		URL:       site.Scheme + "://" + site.Host,
		BasePath:  "/auth",
		Transport: transport,
		t:         t,
		site:      site,
		jar:       map[string]*http.Cookie{},
	}
}

func neverFollow(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Page is an answer that a [Client] got.
type Page struct {
	hidden

	Status int
	Header http.Header
	Body   []byte
	URL    *url.URL // what was asked for

	hops []string // the redirects that led here, one after the other
}

// Location returns the absolute URL that the answer redirects to, or nil if it has no
// usable Location.
func (p *Page) Location() *url.URL {
	to := p.Header.Get("Location")
	if to == "" {
		return nil
	}
	u, err := p.URL.Parse(to)
	if err != nil {
		return nil
	}
	return u
}

// Error returns the parameter error of the URL that the answer redirects to, such as
// "AccessDenied", or "" if there is none.
func (p *Page) Error() string {
	if to := p.Location(); to != nil {
		return to.Query().Get("error")
	}
	return ""
}

// Describe returns what was answered as text for the message of a failed test: the
// status with the redirect target or the first 500 bytes of the body.
func (p *Page) Describe() string {
	const most = 500
	text := fmt.Sprintf("%s answered %d", p.URL, p.Status)
	if to := p.Location(); to != nil {
		return text + " and leads to " + to.String()
	}
	body := string(p.Body)
	if len(body) > most {
		body = body[:most] + " …"
	}
	return text + ": " + body
}

// Get opens a URL as if it was typed in: a path of the site, or any absolute URL.
func (c *Client) Get(rawURL string) *Page {
	c.t.Helper()
	return c.send(http.MethodGet, rawURL, nil, "")
}

// Post sends a form from a page of the site itself, with the headers Origin and
// Sec-Fetch-Site of a browser. With these headers the form needs no csrfToken. A test
// that the site wants the token uses [Client.Do] and leaves the headers out.
// [Client.CSRFToken] fetches the token.
func (c *Client) Post(rawURL string, form url.Values) *Page {
	c.t.Helper()
	return c.send(http.MethodPost, rawURL, form, c.URL)
}

// mostRedirects is after how many in a row browsers give up.
const mostRedirects = 20

// Follow goes where p redirects to. The test ends if p is no redirect, or after twenty
// in a row, where browsers give up, too.
func (c *Client) Follow(p *Page) *Page {
	c.t.Helper()
	to := p.Location()
	if to == nil {
		c.t.Fatalf("latchkeytest: no redirect: %s", p.Describe())
	}
	if len(p.hops) >= mostRedirects {
		c.t.Fatalf("latchkeytest: redirected %d times in a row, in the end: %s", mostRedirects, strings.Join(p.hops[mostRedirects-4:], " → "))
	}
	from := "" // the user's own doing, unless another site sends them
	if !c.isSite(p.URL) {
		from = origin(p.URL)
	}
	next := c.send(http.MethodGet, to.String(), nil, from)
	next.hops = append(slices.Clone(p.hops), next.URL.String())
	return next
}

func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// send makes a request with the headers of a browser. from is the origin of the page that
// made the browser send it. It is empty for a request of the user, and for a redirect
// that follows one.
func (c *Client) send(method, rawURL string, form url.Values, from string) *Page {
	c.t.Helper()
	target, err := c.site.Parse(rawURL)
	if err != nil {
		c.t.Fatalf("latchkeytest: %q is no URL", rawURL)
	}
	var body io.Reader
	if method == http.MethodPost {
		body = strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, target.String(), body)
	if err != nil {
		c.t.Fatal(err)
	}
	c.dress(req, from)
	return c.do(req)
}

// Do sends req with the browser's cookies and returns the answer. It adds no other
// header, so a test can send what no browser would. Cookies go along as on a
// request of a script or form of the site itself, or of another site if req has
// the header "Sec-Fetch-Site: cross-site".
func (c *Client) Do(req *http.Request) *Page {
	c.t.Helper()
	if c.isSite(req.URL) {
		c.attach(req, req.Header.Get("Sec-Fetch-Site") == "cross-site", true)
	}
	return c.do(req)
}

// do sends req as it is, keeps the cookies that the site sets, and returns the answer.
func (c *Client) do(req *http.Request) *Page {
	c.t.Helper()
	browser := http.Client{Transport: c.Transport, Timeout: clientTimeout, CheckRedirect: neverFollow}
	resp, err := browser.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if c.isSite(req.URL) {
		c.absorb(resp.Cookies())
	}
	return &Page{Status: resp.StatusCode, Header: resp.Header, Body: content, URL: req.URL}
}

// dress adds the headers and cookies of a browser that navigates. from is as in send.
func (c *Client) dress(req *http.Request, from string) {
	relation := "none"
	switch {
	case from == c.URL && c.isSite(req.URL):
		relation = "same-origin"
	case from != "":
		relation = "cross-site"
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "text/html,application/json;q=0.9,*/*;q=0.8")
	req.Header.Set("Sec-Fetch-Site", relation)
	req.Header.Set("Sec-Fetch-Mode", "navigate")
	req.Header.Set("Sec-Fetch-Dest", "document")
	if req.Method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", from)
	}
	if c.isSite(req.URL) {
		c.attach(req, relation == "cross-site", req.Method == http.MethodPost)
	}
}

func (c *Client) isSite(u *url.URL) bool { return u.Scheme == c.site.Scheme && u.Host == c.site.Host }
