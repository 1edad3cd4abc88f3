package hostile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

const (
	origin   = "http://localhost:3000"
	victim   = "victim" // subjects
	intruder = "intruder"

	stranger = "stranger@elsewhere.example"
)

// noTest lets a latchkeytest.Client run outside of a test: what would end a test ends
// the visit.
type noTest struct{ testing.TB }

type giveUp string

func (noTest) Helper()                           {}
func (noTest) Cleanup(func())                    {}
func (noTest) Context() context.Context          { return context.Background() }
func (noTest) Fatalf(format string, args ...any) { panic(giveUp(fmt.Sprintf(format, args...))) }
func (noTest) Fatal(args ...any)                 { panic(giveUp(fmt.Sprint(args...))) }

// transport answers requests for the site in this process, whatever its host is called.
type transport struct {
	site http.Handler
	net  http.RoundTripper
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	for _, iss := range []*latchkeytest.Issuer{current.issuer, current.other} {
		if strings.HasPrefix(r.URL.String(), iss.URL) {
			return t.net.RoundTrip(r)
		}
	}
	body := r.Body
	if body == nil {
		body = http.NoBody
	}
	in := httptest.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), body)
	in.Header, in.Host, in.RemoteAddr = r.Header.Clone(), r.URL.Host, "127.0.0.1:4711"
	in.ContentLength = r.ContentLength
	res := serve(t.site, in)
	res.Request = r
	return res, nil
}

// leaver is the response writer for a browser that leaves at the first part of a stream:
// each flush fails.
type leaver struct{ *httptest.ResponseRecorder }

var errLeft = errors.New("the browser has left")

// FlushError returns an error, as [http.ResponseController.Flush] does for such a
// browser.
func (leaver) FlushError() error { return errLeft }

// hanging has the methods and paths that answer as long as a browser listens.
var hanging sync.Map

// serve has the site answer a request and returns the answer. A panic is status 500. After
// ten seconds the context of the request ends, and serve waits for the site to notice that:
// a handler that ignores its context blocks the visit for as long as it runs. The answer is
// then empty, and so are all later ones to the same method and path, at once.
func serve(site http.Handler, r *http.Request) *http.Response {
	path := r.Method + " " + r.URL.Path
	empty := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody}
	if _, known := hanging.Load(path); known {
		return empty
	}
	ctx, cancel := context.WithTimeout(r.Context(), race.Patience(10*time.Second))
	defer cancel()
	w := httptest.NewRecorder()
	if !returns(func() { site.ServeHTTP(leaver{w}, r.WithContext(ctx)) }) {
		w = &httptest.ResponseRecorder{Code: http.StatusInternalServerError, Body: new(bytes.Buffer)}
	}
	if ctx.Err() != nil {
		hanging.Store(path, true)
		return empty
	}
	return w.Result()
}

// returns calls f and reports whether f returned: it returns false if f panicked.
func returns(f func()) (returned bool) {
	defer func() { _ = recover() }()
	f()
	return true
}

// browser is one visitor at one host of the site.
type browser struct {
	*latchkeytest.Client
	subject, email string
	user           string // of the last sign-in
	in             bool   // was signed in at the last visit
	log            []string
}

// open returns a visitor with the subject and the e-mail address. at is the origin of
// the host of the site that the visitor uses.
func open(site http.Handler, at, basePath, subject, email string) *browser {
	c := latchkeytest.NewClientAt(noTest{}, at)
	c.Transport = transport{site: site, net: http.DefaultTransport}
	if basePath != "" {
		c.BasePath = basePath
	}
	return &browser{Client: c, subject: subject, email: email}
}

// try calls f, and reports whether it came to its end: it returns false if a client of
// noTest gave up. Other panics go on.
func try(f func()) (done bool) {
	defer func() {
		if err := recover(); err != nil {
			if _, ok := err.(giveUp); !ok {
				panic(err)
			}
			done = false
		}
	}()
	f()
	return true
}

// signIn signs the visitor in at an issuer. verified is the value of email_verified
// there. signIn returns false if the site does not let the sign-in come to its end.
func (b *browser) signIn(iss *latchkeytest.Issuer, verified any) bool {
	id := current.provider()
	if iss == current.other {
		id = "other"
	}
	return b.enter(func() {
		iss.SignInAs(latchkeytest.Person{Subject: b.subject, Name: "Guest", Email: b.email, EmailVerified: verified})
		b.Complete(b.Begin(id))
	})
}

// enter calls f to sign the visitor in, and notes the user. It returns false if f gave up.
func (b *browser) enter(f func()) bool {
	current.mu.Lock()
	before := len(current.events)
	current.mu.Unlock()
	done := try(f)
	current.mu.Lock()
	defer current.mu.Unlock()
	if len(current.events) > before {
		b.user = current.events[len(current.events)-1].User.ID
	}
	return done
}

// signInByMail asks for a magic link and opens it. It returns false if that signs no user in.
func (b *browser) signInByMail() bool {
	return b.enter(func() { b.SignInByEmail(b.email, current.box) })
}

// openMails follows the links in the visitor's mailbox, which accepts invitations.
func (b *browser) openMails() {
	for _, m := range current.box.Messages(b.email) {
		b.enter(func() {
			if action, form := b.Form(b.Get(m.URL)); action != nil {
				b.Post(action.String(), form)
			}
		})
	}
}

// isIn reports whether the visitor is signed in.
func (b *browser) isIn() (in bool) {
	try(func() { in = b.Session() != nil })
	return in
}

// visit requests every path that the program mentions, and adds the answers to the log of
// the visitor.
func (b *browser) visit() {
	b.in = b.isIn()
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		for _, path := range current.paths(b.BasePath) {
			b.note(method+" "+path, func() *latchkeytest.Page {
				if method == http.MethodGet {
					return b.Get(path)
				}
				return b.Post(path, url.Values{"redirectTo": {"/"}, "user": current.victims, "email": {b.email}})
			})
		}
		b.note("GET session", func() *latchkeytest.Page { return b.Get(b.BasePath + "/session") })
	}
}

// note asks for a page and adds what it says to the log of the visitor.
func (b *browser) note(what string, ask func() *latchkeytest.Page) {
	try(func() {
		p := ask()
		b.log = append(b.log, b.plain(fmt.Sprintf("%s: %d to %v: %s", what, p.Status, p.Location(), p.Body)))
	})
}

var (
	random = regexp.MustCompile(`[A-Za-z0-9_\-+/%=.]{16,}`)
	digits = regexp.MustCompile(`[0-9]+`)
)

// plain replaces names, addresses, random texts and numbers. These may differ between
// two visitors that have the same rights.
func (b *browser) plain(text string) string {
	for _, id := range []string{b.email, url.QueryEscape(b.email), current.address, url.QueryEscape(current.address), b.user} {
		if len(id) > 7 { // a short id is in other texts, too
			text = strings.ReplaceAll(text, id, "SELF")
		}
	}
	return digits.ReplaceAllString(random.ReplaceAllString(text, "*"), "#")
}

var (
	pathPattern = regexp.MustCompile(`^(?:[A-Z]+ )?(/[\w/.{}$*:-]*)$`)
	endsSession = regexp.MustCompile(`sign-?out|log-?out|/out$`)
	wildcard    = regexp.MustCompile(`\{[^}]*\}|\*|:\w+`)
)

// paths returns "/" and the program's paths, except those of the library and of sign-outs.
func (s *stage) paths(basePath string) []string {
	list := []string{"/"}
	for _, text := range s.literals {
		found := pathPattern.FindStringSubmatch(text)
		if found == nil || strings.HasPrefix(found[1]+"/", basePath+"/") || endsSession.MatchString(text) {
			continue
		}
		path := wildcard.ReplaceAllString(strings.ReplaceAll(found[1], "{$}", ""), "1")
		if !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	return list
}

// showSession returns a handler that answers with all that auth knows of the session.
func showSession(auth *latchkey.Auth) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := auth.ReadSession(w, r)
		if err != nil {
			http.Error(w, "nobody", http.StatusUnauthorized)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"id": s.UserID, "user": s.User, "extra": s.Extra, "userExtra": s.User.Extra})
	})
}
