//go:build linux

package soak

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// visitor is one person in one browser. The ledger says what must be true of it.
type visitor struct {
	w      *world
	i      int
	rand   *rand.Rand
	cookie map[string]string
	errs   []string

	// The ledger.
	signedIn bool
	seen     time.Time           // when the session was certainly alive, by the site's clock
	dead     []map[string]string // cookies of sessions that were ended
	done     map[string]int      // what the visitor did, counted
}

func newVisitor(w *world, i int, seed uint64) *visitor {
	return &visitor{w: w, i: i, rand: rand.New(rand.NewPCG(seed, uint64(i))), cookie: map[string]string{}, done: map[string]int{}}
}

func (v *visitor) wrong(format string, args ...any) {
	if len(v.errs) < 5 {
		v.errs = append(v.errs, fmt.Sprintf("visitor %d: ", v.i)+fmt.Sprintf(format, args...))
	}
}

// step does one thing: 60 % reads, 20 % guards, 10 % sign-ins, 5 % sign-outs, 5 % junk.
func (v *visitor) step() {
	switch n := v.rand.IntN(100); {
	case n < 60:
		v.reads()
	case n < 80:
		v.meetsGuard()
	case n < 90:
		v.signsIn()
	case n < 95:
		v.signsOut()
	default:
		v.sendsJunk()
	}
}

// answer is what the site said, and whether it counts: an error that a fault explains
// does not.
type answer struct {
	*http.Response
	body   string
	counts bool
}

func (v *visitor) send(method, target string, form url.Values, cookies map[string]string) answer {
	excused := v.w.excused()
	r := httptest.NewRequest(method, target, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for name, value := range cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	rec := httptest.NewRecorder()
	v.w.proxy.ServeHTTP(rec, r)
	res := rec.Result()
	body, _ := io.ReadAll(res.Body)
	excused = excused || v.w.excused()
	for _, c := range res.Cookies() {
		if c.MaxAge < 0 || c.Value == "" {
			delete(cookies, c.Name)
		} else {
			cookies[c.Name] = c.Value
		}
	}
	if res.StatusCode >= 500 && !excused {
		v.wrong("%s %s: %s outside of a fault", method, r.URL.Path, res.Status)
	}
	return answer{res, string(body), !excused}
}

// mayHaveExpired reports whether the session is so old that it may be over.
func (v *visitor) mayHaveExpired() bool { return v.w.now().Sub(v.seen) > maxAge*9/10 }

func (v *visitor) reads() {
	v.done["read"]++
	a := v.send("GET", origin+"/auth/session", nil, v.cookie)
	if !a.counts || a.StatusCode != http.StatusOK {
		return
	}
	var session struct{ User struct{ Email string } }
	if a.body != "null" && json.Unmarshal([]byte(a.body), &session) != nil {
		v.wrong("the session is %.80q", a.body)
	}
	v.compare(session.User.Email)
}

func (v *visitor) meetsGuard() {
	v.done["guard"]++
	a := v.send("GET", origin+"/private", nil, v.cookie)
	switch {
	case !a.counts:
	case a.StatusCode == http.StatusOK:
		v.compare(a.body)
	case a.StatusCode == http.StatusFound:
		v.compare("")
	default:
		v.wrong("the guard says %s", a.Status)
	}
}

// compare holds what the site says against the ledger.
func (v *visitor) compare(email string) {
	switch {
	case email != "" && email != emailOf(v.i):
		v.wrong("is signed in as %s", email)
	case email != "" && !v.signedIn:
		v.wrong("is signed in, and should not be")
	case email == "" && v.signedIn && !v.mayHaveExpired():
		v.wrong("was signed out")
	case email == "":
		v.signedIn = false
	default:
		v.seen = v.w.now()
	}
}

func (v *visitor) signsIn() {
	form := url.Values{"callbackUrl": {origin + "/private"}, "csrfToken": {v.csrf()}}
	ended := false
	former := sessionOf(v.cookie)
	if v.i%2 == 0 { // an address signs in one way: the other would not be linked
		v.done["sign-in by provider"]++
		ended = v.byProvider(form)
	} else {
		v.done["sign-in by mail"]++
		ended = v.byMail(form)
	}
	if now := sessionOf(v.cookie); ended && len(now) > 0 {
		v.signedIn, v.seen = true, v.w.now()
		if len(former) > 0 && former[sessionCookie] != now[sessionCookie] {
			v.buries(former)
		}
	} else if !ended && len(sessionOf(v.cookie)) == 0 {
		v.signedIn = false
	}
}

func (v *visitor) byProvider(form url.Values) bool {
	a := v.send("POST", origin+"/auth/signin/issuer", form, v.cookie)
	target, err := url.Parse(a.Header.Get("Location"))
	if err != nil || a.StatusCode != http.StatusFound || target.Host == "localhost:3000" {
		return v.refusedSignIn(a, "the provider was not asked")
	}
	client := http.Client{Transport: v.w.network, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.PostForm(target.String(), url.Values{"person": {fmt.Sprint(v.i)}})
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	back := res.Header.Get("Location")
	if !strings.HasPrefix(back, origin) {
		if a.counts && !v.w.excused() {
			v.wrong("the provider answers %s", res.Status)
		}
		return false
	}
	return v.ends(v.send("GET", back, nil, v.cookie))
}

var link = regexp.MustCompile(`http://localhost:3000/auth/callback/[^\s"<>]+`)

func (v *visitor) byMail(form url.Values) bool {
	before := v.w.mails.to(emailOf(v.i)).sent
	form.Set("email", emailOf(v.i))
	a := v.send("POST", origin+"/auth/signin/email", form, v.cookie)
	if a.StatusCode != http.StatusFound {
		return v.refusedSignIn(a, "no mail was asked for")
	}
	for wait := time.Now().Add(5 * time.Second); time.Now().Before(wait); time.Sleep(5 * time.Millisecond) { // it leaves after the answer
		if mails := v.w.mails.to(emailOf(v.i)); mails.sent > before {
			return v.ends(v.send("GET", html.UnescapeString(link.FindString(mails.url)), nil, v.cookie))
		}
	}
	if a.counts && !v.w.excused() {
		v.wrong("no mail came")
	}
	return false
}

func (v *visitor) refusedSignIn(a answer, what string) bool {
	if a.counts {
		v.wrong("%s: %s %s", what, a.Status, a.Header.Get("Location"))
	}
	return false
}

// ends reports whether a sign-in ended where it should.
func (v *visitor) ends(a answer) bool {
	if a.StatusCode == http.StatusFound && a.Header.Get("Location") == origin+"/private" {
		return true
	}
	return v.refusedSignIn(a, "the sign-in ended elsewhere")
}

func (v *visitor) csrf() string {
	var got struct{ CSRFToken string }
	_ = json.Unmarshal([]byte(v.send("GET", origin+"/auth/csrf", nil, v.cookie).body), &got)
	return got.CSRFToken
}

func (v *visitor) signsOut() {
	if !v.signedIn {
		return
	}
	v.done["sign-out"]++
	former := sessionOf(v.cookie)
	a := v.send("POST", origin+"/auth/signout", url.Values{"csrfToken": {v.csrf()}}, v.cookie)
	if a.counts && a.StatusCode == http.StatusFound {
		v.buries(former)
		v.signedIn = false
		return
	}
	if len(sessionOf(v.cookie)) == 0 {
		v.signedIn = false
	}
}

// mostDead is how many ended sessions a visitor remembers: the ledger must not grow with
// the run.
const mostDead = 50

// buries remembers a session that was ended. It forgets any other when there are too many.
func (v *visitor) buries(session map[string]string) {
	if len(v.dead) < mostDead {
		v.dead = append(v.dead, session)
		return
	}
	v.dead[v.rand.IntN(mostDead)] = session
}

// sendsJunk sends what nobody should, and cookies of sessions that ended.
func (v *visitor) sendsJunk() {
	v.done["junk"]++
	if n := len(v.dead); n > 0 {
		old := v.dead[v.rand.IntN(n)]
		copied := map[string]string{sessionCookie: old[sessionCookie]}
		if a := v.send("GET", origin+"/auth/session", nil, copied); a.counts && a.body != "null" {
			v.wrong("a session that ended is alive: %.80q", a.body)
		}
	}
	v.send("GET", origin+"/auth/callback/issuer?code=junk&state=junk", nil, map[string]string{})
	v.send("GET", origin+"/auth/session", nil, map[string]string{sessionCookie: fmt.Sprint(v.rand.Uint64())})
}

const sessionCookie = "authjs.session-token"

func sessionOf(cookies map[string]string) map[string]string {
	if value := cookies[sessionCookie]; value != "" {
		return map[string]string{sessionCookie: value}
	}
	return nil
}
