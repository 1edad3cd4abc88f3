package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
)

// sessionCookie is its name on a site without TLS.
const sessionCookie = "authjs.session-token"

// browser keeps cookies. Unlike latchkeytest.Client it needs no test, for the
// processes that are killed, and may be used outside a test's goroutine. It can
// open its site on any instance of it.
type browser struct {
	site http.Handler
	jar  map[string]string
}

func newBrowser(site http.Handler) *browser { return &browser{site, map[string]string{}} }

// at is another tab of the same browser, with what cookies it has now, on
// another instance of the site.
func (b *browser) at(site http.Handler) *browser {
	tab := newBrowser(site)
	for name, value := range b.jar {
		tab.jar[name] = value
	}
	return tab
}

// answer is what the site said.
type answer struct {
	status int
	header http.Header
	body   string
	set    map[string]string // cookies; empty value: removed
}

// path is where the answer sends the browser on the site; empty: elsewhere, or
// nowhere.
func (a answer) path() string {
	path, on := strings.CutPrefix(a.header.Get("Location"), origin)
	if !on {
		return ""
	}
	path, _, _ = strings.Cut(path, "?")
	return path
}

// fault is the error code that the browser gets; empty: none.
func (a answer) fault() string {
	to, err := url.Parse(a.header.Get("Location"))
	if err != nil {
		return err.Error()
	}
	return to.Query().Get("error")
}

// signedIn says whether the answer carries a session.
func (a answer) signedIn() bool { return a.set[sessionCookie] != "" }

// isPolite: the answer is one of those that a browser may get when things go
// wrong: a redirect to a page that says so, and no session.
func (a answer) isPolite() bool {
	return a.status == http.StatusFound && a.fault() != "" && !a.signedIn() &&
		(a.path() == "/auth/error" || a.path() == "/auth/signin")
}

func (a answer) String() string {
	return fmt.Sprintf("status %d, error %q, signed in: %t", a.status, a.fault(), a.signedIn())
}

// send makes a request; a form makes it a POST.
func (b *browser) send(ctx context.Context, target string, form url.Values) answer {
	method, body := http.MethodGet, io.Reader(nil)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	r := httptest.NewRequestWithContext(ctx, method, "/"+strings.TrimLeft(strings.TrimPrefix(target, origin), "/"), body)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range b.jar {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	b.site.ServeHTTP(w, r)
	got := answer{w.Code, w.Header(), w.Body.String(), map[string]string{}}
	for _, c := range w.Result().Cookies() {
		got.set[c.Name] = c.Value
		if b.jar[c.Name] = c.Value; c.Value == "" || c.MaxAge < 0 {
			delete(b.jar, c.Name)
		}
	}
	return got
}

// press posts a form of the site's, with the token that it carries.
func (b *browser) press(ctx context.Context, route string, fields url.Values) answer {
	var token struct {
		CSRFToken string `json:"csrfToken"`
	}
	_ = json.Unmarshal([]byte(b.send(ctx, "/auth/csrf", nil).body), &token) // without it the site refuses
	form := url.Values{"csrfToken": {token.CSRFToken}, "callbackUrl": {origin + "/"}}
	for name, values := range fields {
		form[name] = values
	}
	return b.send(ctx, "/auth/"+route, form)
}

// upstream is for the provider, which sends the browser back.
var upstream = &http.Client{
	Timeout:       patience,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// consent signs a person in at the provider and returns the URL of the
// callback.
func (b *browser) consent(ctx context.Context, pressed answer, person int) (callback string, err error) {
	form := strings.NewReader(url.Values{"person": {strconv.Itoa(person)}}.Encode())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, pressed.header.Get("Location"), form)
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := upstream.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, res.Body)
	if callback = res.Header.Get("Location"); !strings.HasPrefix(callback, origin) {
		return "", fmt.Errorf("the provider answered %d after %v", res.StatusCode, pressed)
	}
	return callback, nil
}

// begin goes as far as the callback.
func (b *browser) begin(ctx context.Context, provider string, person int) (callback string, err error) {
	return b.consent(ctx, b.press(ctx, "signin/"+provider, nil), person)
}

// signIn goes all the way and returns the answer of the callback.
func (b *browser) signIn(ctx context.Context, provider string, person int) (answer, error) {
	callback, err := b.begin(ctx, provider, person)
	if err != nil {
		return answer{}, err
	}
	return b.send(ctx, callback, nil), nil
}

// who is the e-mail address of whoever is signed in; empty: nobody.
func (b *browser) who(ctx context.Context) (string, answer) {
	got := b.send(ctx, "/auth/session", nil)
	var session struct {
		User struct {
			Email string `json:"email"`
		} `json:"user"`
	}
	_ = json.Unmarshal([]byte(got.body), &session) // null is nobody
	return session.User.Email, got
}
