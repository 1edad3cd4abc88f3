package latchkeytest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// Fetch sends a request as a script of a page of the site does, with the browser's
// cookies. It sends body as JSON, a []byte as it is, and nil as no body. header has what
// the script sets, and wins over what a browser would send. An Origin of another
// site makes it a script of that site: the request is marked as cross-site, and
// cookies go along only with SameSite=None.
//
//	browser.Fetch("POST", "/api/notes", map[string]string{"text": "buy milk"}, nil)
//	browser.Fetch("DELETE", "/api/notes/1", nil, http.Header{"Origin": {"https://evil.example"}})
func (c *Client) Fetch(method, rawURL string, body any, header http.Header) *Page {
	c.t.Helper()
	target, err := c.site.Parse(rawURL)
	if err != nil {
		c.t.Fatalf("latchkeytest: %q is no URL", rawURL)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, target.String(), c.payload(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	c.dressScript(req, header)
	return c.Do(req)
}

// payload returns a reader of body as Fetch sends it. The test ends if JSON cannot hold
// it.
func (c *Client) payload(body any) io.Reader {
	c.t.Helper()
	switch body := body.(type) {
	case nil:
		return nil
	case []byte:
		return bytes.NewReader(body)
	}
	text, err := json.Marshal(body)
	if err != nil {
		c.t.Fatalf("latchkeytest: the body is nothing that JSON can hold: %v", err)
	}
	return bytes.NewReader(text)
}

// dressScript adds the headers of a browser in which a script sends req (Fetch standard,
// section 3.2; W3C Fetch Metadata), and header, which wins.
func (c *Client) dressScript(req *http.Request, header http.Header) {
	from, relation := c.URL, "same-origin"
	if given := header.Get("Origin"); given != "" {
		from = given
	}
	if from != c.URL || !c.isSite(req.URL) {
		relation = "cross-site"
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "*/*")
	req.Header.Set("Sec-Fetch-Site", relation)
	req.Header.Set("Sec-Fetch-Mode", "cors")
	req.Header.Set("Sec-Fetch-Dest", "empty")
	if relation != "same-origin" || req.Method != http.MethodGet && req.Method != http.MethodHead {
		req.Header.Set("Origin", from)
	}
	for name, values := range header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
}
