package providers

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// maxTikTokToken bounds a token answer that is worth repairing, in bytes.
const maxTikTokToken = 64 << 10

// tikTokTransport makes TikTok's token answers what RFC 6749 section 5 says:
// the status and media type follow from the content, and errors in TikTok's old
// envelope become errors of the standard.
type tikTokTransport struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (t *tikTokTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/token/") {
		return resp, err
	}
	start, err := io.ReadAll(io.LimitReader(resp.Body, maxTikTokToken+1))
	if err != nil {
		resp.Body.Close()
		return nil, err
	}
	members, err := object(start)
	if err != nil || len(start) > maxTikTokToken { // not for us to understand: handed on as it came
		resp.Body = &rest{io.MultiReader(bytes.NewReader(start), resp.Body), resp.Body}
		return resp, nil
	}
	return repairTikTok(resp, members)
}

// rest is a body of which the start was read already.
type rest struct {
	io.Reader
	io.Closer
}

// repairTikTok leaves redirects alone, so that they stay an error.
func repairTikTok(resp *http.Response, members latchkey.Claims) (*http.Response, error) {
	resp.Body.Close()
	if fault := member(members, "data"); fault.String("error_code") != "" && fault.String("error_code") != "0" {
		members = latchkey.Claims{"error": "tiktok_" + fault.String("error_code"), "error_description": fault.String("description")}
	}
	body, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	if members.String("access_token") != "" && resp.StatusCode/100 != 3 {
		resp.StatusCode, resp.Status = http.StatusOK, "200 OK"
	}
	resp.Header.Set("Content-Type", "application/json")
	resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
	resp.ContentLength = int64(len(body))
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}
