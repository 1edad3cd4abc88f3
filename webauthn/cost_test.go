package webauthn_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// costPage is the page with the table of this test.
const costPage = "../docs/internals/cost.md"

// costs are maximums of one request. Sizes are in bytes.
type costs struct{ read, objects, allocated, sent, stored int }

// costed is a route that an unauthenticated client may ask, and what it may cost.
type costed struct {
	route string // method and path below the base path, as docs/protocol.md has it
	most  costs

	path   string // below the base path; empty: that of route
	form   func(t *testing.T, b *latchkeytest.Client) url.Values
	beside func(*latchkey.Auth) http.Handler // what answers, if it is not mounted below the base path
}

// key returns method and path, without what the request is about.
func (c *costed) key() string { return strings.Split(c.route, ",")[0] }

// about returns what the request is about, after a comma, or "".
func (c *costed) about() string { return strings.TrimPrefix(c.route, c.key()) }

// inflation is one way to make a request large.
type inflation struct {
	name   string
	change func(r *http.Request, form url.Values) (body, kind string)
}

const formType = "application/x-www-form-urlencoded"

// inflations returns requests at the limits of what is read: of the query, of cookies and
// of the body, in few values and in many.
func inflations() []inflation {
	same := func(f func(r *http.Request)) func(*http.Request, url.Values) (string, string) {
		return func(r *http.Request, form url.Values) (string, string) {
			f(r)
			return form.Encode(), formType
		}
	}
	query := func(text string) func(*http.Request, url.Values) (string, string) {
		return same(func(r *http.Request) { r.URL.RawQuery = strings.TrimPrefix(r.URL.RawQuery+"&"+text, "&") })
	}
	cookies := func(text string) func(*http.Request, url.Values) (string, string) {
		return same(func(r *http.Request) { r.Header.Set("Cookie", text+"; "+r.Header.Get("Cookie")) })
	}
	with := func(text string) func(*http.Request, url.Values) (string, string) {
		return func(_ *http.Request, form url.Values) (string, string) { return form.Encode() + "&" + text, formType }
	}
	return []inflation{
		{"as browsers send it", same(func(*http.Request) {})},
		{"a query of many values", query(strings.Repeat("a=b&", 1700))},
		{"a query of long values", query("a=" + strings.Repeat("b", 4000) + "&callbackUrl=" + strings.Repeat("c", 3000))},
		{"a callback URL in the query", query("callbackUrl=https://" + strings.Repeat("a.", 1500) + "example")},
		{"many cookies", cookies(strings.Repeat("authjs.session-token=x; ", 1000))},
		{"many cookies of different values", cookies(different(12_000))},
		{"a session cookie in many parts", cookies(parts(200))},
		{"a long session cookie", cookies("authjs.session-token=" + strings.Repeat("e.", 6000))},
		{"long cookies of each name", cookies("authjs.csrf-token=" + strings.Repeat("a", 4000) + "; authjs.callback-url=" + strings.Repeat("b", 4000) + "; authjs.challenge=" + strings.Repeat("c", 4000))},
		{"a long bearer token in place of a cookie", same(func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+strings.Repeat("e.", 6000)) })},
		{"a form of many values", with(strings.Repeat("a=b&", 900))},
		{"a form of long values", with("a=" + strings.Repeat("%41", 1300) + "&callbackUrl=" + strings.Repeat("c", 4000))},
		{"a full form", with("data=" + strings.Repeat("b", 60<<10))},
		{"JSON of many values", jsonWith(`"x":[0` + strings.Repeat(",0", 800) + `]`)},
		{"JSON of 1 MiB", jsonWith(`"x":[` + strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("y", 4000)+`",`, 255), ",") + `]`)},
		{"JSON of 1 MiB in one value", jsonWith(`"data":"` + strings.Repeat("z", 1<<20-600) + `"`)},
		{"JSON that is nested", jsonWith(`"x":` + strings.Repeat("[", 60) + strings.Repeat("]", 60))},
	}
}

func different(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "c%d=v%05dx; ", i, i)
	}
	return b.String()
}

func parts(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "authjs.session-token.%d=%s; ", i, strings.Repeat("p", 200))
	}
	return b.String()
}

// jsonWith sends the form in JSON, with one member more.
func jsonWith(member string) func(*http.Request, url.Values) (string, string) {
	return func(_ *http.Request, form url.Values) (string, string) {
		var b strings.Builder
		b.WriteString("{" + member)
		for name := range form {
			fmt.Fprintf(&b, ",%q:%s", name, must(marshal(form.Get(name))))
		}
		return b.String() + "}", "application/json"
	}
}

// costedRoutes are all routes: TestEveryRouteIsCosted notices one that is missing. A maximum is what the worst of
// inflations costs, and a third more at least.
func costedRoutes() []costed {
	const kib = 1 << 10
	light := costs{256 * kib, 1500, 256 * kib, 16 * kib, 0}
	logged := costs{256 * kib, 1500, 5120 * kib, 16 * kib, 0} // an error in the log repeats no cookie, so all are read
	posted := costs{1100 * kib, 2000, 5120 * kib, 16 * kib, 0}
	stores := func(most costs, n int) costs { most.stored = n; return most }
	csrf := func(t *testing.T, b *latchkeytest.Client) url.Values {
		return url.Values{"csrfToken": {b.CSRFToken()}, "email": {"eve@example.com"}, "username": {"eve"}, "password": {"wrong"}}
	}
	return []costed{
		{route: "GET /:other, which no action is", path: "elsewhere", most: logged},
		{route: "GET /providers", most: light},
		{route: "GET /csrf", most: light},
		{route: "GET /session", most: light},
		{route: "POST /session", most: posted, form: csrf},
		{route: "GET /signin", most: costs{256 * kib, 2000, 256 * kib, 24 * kib, 0}},
		{route: "POST /signin", most: posted, form: csrf},
		{route: "POST /signin/:provider", path: "signin/email", most: stores(posted, 200), form: csrf},
		{route: "POST /signin/:provider, a provider elsewhere", path: "signin/away", most: posted, form: csrf},
		{route: "GET /callback", most: logged},
		{route: "POST /callback", most: posted, form: csrf},
		{route: "GET /callback/:provider", path: "callback/email?token=x&email=eve@example.com", most: logged},
		{route: "GET /callback/:provider, a provider elsewhere", path: "callback/away?code=x&state=y", most: logged},
		{route: "POST /callback/:provider", path: "callback/password", most: posted, form: csrf},
		{route: "POST /callback/:provider, a password that the site keeps", path: "callback/known", most: posted, form: csrf},
		{route: "GET /signout", most: light},
		{route: "POST /signout", most: posted, form: csrf},
		{route: "GET /verify-request", most: light},
		{route: "GET /error", most: light},
		{route: "GET /account", most: light},
		{route: "POST /account", most: posted, form: csrf},
		{route: "GET /password, a sign-up", path: "password?do=signup", most: light},
		{route: "POST /password, a sign-up", path: "password?do=signup", most: stores(posted, 2*kib), form: csrf},
		{route: "GET /password, a new one is asked for", path: "password?do=forgot", most: light},
		{route: "POST /password, a new one is asked for", path: "password?do=forgot", most: posted, form: csrf},
		{route: "GET /password, a link", path: "password?do=reset&token=x", most: logged},
		{route: "POST /password, a link", path: "password?do=reset&token=x", most: posted, form: csrf},
		{route: "GET /factor", most: light},
		{route: "POST /factor", most: posted, form: csrf},
		{route: "GET /reauth", most: light},
		{route: "POST /reauth", most: posted, form: csrf},
		{route: "GET /invite", path: "invite?token=x", most: light},
		{route: "POST /invite", path: "invite?token=x", most: posted, form: csrf},
		{route: "GET /act-as", path: "act-as?token=x", most: logged},
		{route: "POST /act-as", most: posted, form: csrf},
		{route: "GET /signed-out", most: light},
		{route: "GET /signed-out/:provider", path: "signed-out/away?state=x", most: light},
		{route: "GET /frontchannel-logout", most: light},
		{route: "GET /frontchannel-logout/:provider", path: "frontchannel-logout/away?iss=x&sid=y", most: light},
		{route: "GET /backchannel-logout", most: light},
		{route: "GET /backchannel-logout/:provider", path: "backchannel-logout/away", most: light},
		{route: "POST /backchannel-logout", most: posted, form: csrf},
		{route: "POST /backchannel-logout/:provider", path: "backchannel-logout/away", most: posted, form: csrf},
		{route: "GET /client", most: logged},
		{route: "GET /client/:file", path: "client/latchkey.js", most: light},
		{route: "GET /webauthn-options/:provider, nobody named", path: "webauthn-options/passkey", most: light},
		{route: "GET /webauthn-options/:provider, a user with 64 passkeys", path: "webauthn-options/passkey?email=full@example.com", most: costs{256 * kib, 1500, 1280 * kib, 128 * kib, 0}},
		{route: "POST /callback/:provider, a passkey is used", path: "callback/passkey", most: posted, form: used},
		{route: "POST /callback/:provider, a passkey is made", path: "callback/passkey", most: stores(posted, 8*kib), form: made},
		{route: "GET /.well-known/webauthn", most: light, beside: (*latchkey.Auth).RelatedOrigins},
		{route: "GET /.well-known/passkey-endpoints", most: light, beside: func(a *latchkey.Auth) http.Handler { return a.PasskeyEndpoints("") }},
		{route: "GET /.well-known/change-password", most: light, beside: func(a *latchkey.Auth) http.Handler { return a.ChangePasswordPage("") }},
		{route: "GET /readyz", most: light, beside: (*latchkey.Auth).HealthHandler},
	}
}

// used is an answer with an unknown passkey.
func used(t *testing.T, b *latchkeytest.Client) url.Values {
	t.Helper()
	a := latchkeytest.NewAuthenticator(b.URL)
	must(a.Create([]byte(`{"rp":{"name":"x"},"user":{"id":"YQ","name":"x"},"challenge":"AAAA"}`)))
	_, raw := ask(t, b, "?action=authenticate")
	return url.Values{"action": {"authenticate"}, "data": {string(must(a.Get(raw)))}, "csrfToken": {b.CSRFToken()}}
}

// made is a sign-up with the longest of what is stored.
func made(t *testing.T, b *latchkeytest.Client) url.Values {
	t.Helper()
	a := latchkeytest.NewAuthenticator(b.URL)
	a.Misbehave(bad{AuthenticatorData: func(d *latchkeytest.AuthenticatorData) {
		d.CredentialID = make([]byte, 1023)
		d.PublicKey = map[int]any{1: 3, 3: -257, -1: []byte(strings.Repeat("\xff", 512)), -2: []byte{1, 0, 1}}
	}})
	_, raw := ask(t, b, "?action=register&email=new@example.com")
	return url.Values{"action": {"register"}, "data": {string(must(a.Create(raw)))}, "csrfToken": {b.CSRFToken()}}
}

// TestCostOfRoutes: R-523. Whatever an unauthenticated client sends to a route, the
// site reads, allocates, sends and stores no more than docs/internals/cost.md says.
// LATCHKEY_WRITE=1 writes the page. Before, it did not end: cookies of different
// values were compared with one another.
func TestCostOfRoutes(t *testing.T) {
	var page strings.Builder
	page.WriteString(costHead)
	for _, c := range costedRoutes() {
		worst := costs{}
		for _, sh := range inflations() {
			if c.form == nil && !strings.Contains(sh.name, "query") && !strings.Contains(sh.name, "cookie") && sh.name != "as browsers send it" {
				continue
			}
			got := c.measure(t, sh)
			for range 2 { // what else the process does in the meantime is counted, too
				if got.within(c.most) {
					break
				}
				got = c.measure(t, sh)
			}
			for i, n := range got.all() {
				if most := c.most.all()[i]; n > most {
					t.Errorf("R-523 %s, %s: %s %d, want at most %d", c.route, sh.name, costNames[i], n, most)
				}
			}
			worst = worst.max(got)
		}
		t.Logf("%s: %+v", c.route, worst)
		m := c.most
		fmt.Fprintf(&page, "| `%s`%s | %d | %d | %d | %d | %d |\n", c.key(), c.about(), m.read>>10, m.objects, m.allocated>>10, m.sent>>10, m.stored)
	}
	if os.Getenv("LATCHKEY_WRITE") != "" {
		must(0, os.WriteFile(costPage, []byte(page.String()), 0o600))
	}
	if written, err := os.ReadFile(costPage); err != nil || string(written) != page.String() {
		t.Errorf("%s is not what the test says: run it with LATCHKEY_WRITE=1 (%v)", costPage, err)
	}
}

var costNames = []string{"bytes read", "objects", "bytes allocated", "bytes sent", "bytes stored"}

func (c costs) all() []int { return []int{c.read, c.objects, c.allocated, c.sent, c.stored} }

func (c costs) within(o costs) bool { return c.max(o) == o }

func (c costs) max(o costs) costs {
	return costs{max(c.read, o.read), max(c.objects, o.objects), max(c.allocated, o.allocated), max(c.sent, o.sent), max(c.stored, o.stored)}
}

// measure sends one request, and counts.
func (c costed) measure(t *testing.T, sh inflation) (got costs) {
	t.Helper()
	s := newWholeSite(t, io.Discard)
	if strings.Contains(c.path, "full@") {
		s.fill(t)
	}
	b, _ := s.visit()
	for _, once := range []string{"signin", "error", "verify-request", "signout"} { // what is prepared once
		b.Get("/auth/" + once)
	}
	method, path, _ := strings.Cut(c.key(), " /")
	base, handler := s.url+"/auth/", http.Handler(s.auth)
	if c.beside != nil {
		base, handler = s.url+"/", c.beside(s.auth)
	}
	r := httptest.NewRequest(method, base+cmp.Or(c.path, path), nil)
	form := url.Values{}
	if c.form != nil {
		form = c.form(t, b)
	}
	for _, k := range b.Cookies() {
		r.AddCookie(&http.Cookie{Name: k.Name, Value: k.Value})
	}
	r.RemoteAddr = "192.0.2.1:1"
	body, kind := sh.change(r, form)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", kind)
		r.Body, r.ContentLength = http.NoBody, int64(len(body))
		r.Body = readCloser(body)
	}
	got.read = len(r.URL.RequestURI()) + len(body)
	for name, values := range r.Header {
		got.read += len(name) + len(strings.Join(values, ""))
	}
	before := s.stored()
	w := httptest.NewRecorder()
	got.objects, got.allocated = counted(func() { handler.ServeHTTP(w, r) })
	got.sent = w.Body.Len()
	for name, values := range w.Header() {
		got.sent += len(name) + len(strings.Join(values, ""))
	}
	got.stored = s.stored() - before
	return got
}

// counted returns how many objects and bytes a call allocates.
func counted(f func()) (objects, size int) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.Mallocs - before.Mallocs), int(after.TotalAlloc - before.TotalAlloc)
}

// stored returns the bytes of all records.
func (s *site) stored() (n int) {
	c := reflect.ValueOf(s.store.Contents())
	for i := range c.NumField() {
		for j := range c.Field(i).Len() {
			measure("", c.Field(i).Index(j), func(_ string, size int) { n += size })
		}
	}
	return n
}
