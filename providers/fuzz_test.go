package providers_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers"
)

// saying answers every request with body.
func saying(status int, body []byte) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
	})
}

// FuzzTikTokToken holds that repairing an answer never makes a token of an
// error, and hands on untouched what it does not understand.
func FuzzTikTokToken(f *testing.F) {
	for _, body := range []string{"", "null", tokenAnswer, `{"error":"x"}`, `{"data":{"error_code":1,"description":"x"}}`, `{"data":7}`, "{\"a\":\"\xff\"}", `{}{}`} {
		f.Add(400, []byte(body))
	}
	wrap := providers.TikTok(latchkey.OAuth{}).Transport
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://open.tiktokapis.com/v2/oauth/token/", strings.NewReader("grant_type=authorization_code"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := wrap(saying(status, body)).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		var before, after map[string]any
		if json.Unmarshal(got, &after) != nil && !bytes.Equal(got, body) {
			t.Errorf("%q became %q", body, got)
		}
		if json.Unmarshal(body, &before) == nil && before["access_token"] == nil && after["access_token"] != nil {
			t.Errorf("%q became a token", body)
		}
	})
}

// FuzzGitHubEmails holds that no list makes an e-mail of an entry that is not
// verified.
func FuzzGitHubEmails(f *testing.F) {
	for _, list := range []string{"", "null", "[]", "[null]", `[{"email":"a@b","primary":true,"verified":true}]`, `[{"email":"a@b","primary":true}]`, `[{"email":7}]`} {
		f.Add([]byte(list))
	}
	fetch := providers.GitHub(latchkey.OAuth{}).FetchProfile
	f.Fuzz(func(t *testing.T, list []byte) {
		client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/user" {
				return saying(200, []byte(`{"id":1,"email":null}`)).RoundTrip(r)
			}
			return saying(200, list).RoundTrip(r)
		})}
		profile, err := fetch(t.Context(), client, latchkey.Tokens{AccessToken: "t"})
		if err != nil || profile.String("id") != "1" {
			t.Fatalf("%v, %v", profile, err)
		}
		if email := profile.String("email"); email != "" && (profile["email_verified"] != true || !bytes.Contains(bytes.ToLower(list), []byte("verified"))) {
			t.Errorf("%q gave %q", list, email)
		}
	})
}
