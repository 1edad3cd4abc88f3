package mail_test

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/mail"
)

// TestSignIn goes the whole way: form, mail, link, session.
func TestSignIn(t *testing.T) {
	c := listen(t, false, nil)
	send, err := mail.SMTP(c.server())
	if err != nil {
		t.Fatal(err)
	}
	auth, err := latchkey.New(latchkey.Config{
		Providers: []latchkey.Provider{&latchkey.Email{Send: send}},
		Adapter:   memoryadapter.New(memoryadapter.Options{}),
		Secrets:   []string{strings.Repeat("not a real secret ", 3)},
		Site:      latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(auth)
	defer site.Close()
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

	var csrf struct{ CSRFToken string }
	getJSON(t, browser, site.URL+"/auth/csrf", &csrf)
	form := url.Values{"csrfToken": {csrf.CSRFToken}, "email": {" Ada@B.example"}}
	resp, err := browser.PostForm(site.URL+"/auth/signin/email", form)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	mails := c.caught()
	if len(mails) != 1 || mails[0].to[0] != "ada@b.example" {
		t.Fatalf("status %d, caught %+v", resp.StatusCode, mails)
	}
	_, body, _ := parts(t, mails[0].data)
	link := strings.Split(body["text/plain"], "\n")[1]
	if resp, err = browser.Get(link); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	var session struct{ User struct{ Email string } }
	getJSON(t, browser, site.URL+"/auth/session", &session)
	if session.User.Email != "ada@b.example" {
		t.Errorf("signed in as %q", session.User.Email)
	}
}

func getJSON(t *testing.T, c *http.Client, url string, into any) {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}
