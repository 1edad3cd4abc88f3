package frameworktest

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// answerCases are about the way of cookies into answers of every kind.
var answerCases = []testCase{
	{"an answer has each cookie once and each word of Vary once, whatever is called", func(f *framework) {
		f.post("/many", LoadSession, manyCalls)
		f.post("/many/bare", Unguarded, manyCalls)
	}, proveOnce},
	{"the cookies of the application stand beside ours", func(f *framework) {
		f.page("/cookies", LoadSession, func(c Context) {
			c.SetCookie("one", "1")
			text := "here is " + nameOf(c.Session())
			c.SetCookie("two", "2")
			c.Write(http.StatusOK, text)
		})
	}, func(t *testing.T, f *framework) {
		c := f.openAs("Ada")
		p := c.Get("/cookies")
		answers(t, p, http.StatusOK, "here is Ada")
		for _, name := range []string{"one", "two", "session-token"} {
			if !setsCookie(p, name) {
				t.Errorf("no cookie %s in %q", name, p.Header.Values("Set-Cookie"))
			}
		}
	}},
	{"a session that is too large for one cookie", func(f *framework) {
		f.config.Callbacks.Token = func(_ context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) {
			t.Claims["big"] = strings.Repeat("0123456789", 600)
			return t.Claims, nil
		}
		f.page("/members", RequireSession, who)
	}, func(t *testing.T, f *framework) {
		c := f.openAs("Ada")
		if n := len(c.Cookies()); n < 4 {
			t.Errorf("the browser holds %d cookies", n)
		}
		answers(t, c.Get("/members"), http.StatusOK, "here is Ada")
		answers(t, c.Get("/members"), http.StatusOK, "here is Ada")
		if c.SignOut(); c.Session() != nil {
			t.Error("somebody is still signed in")
		}
		for _, left := range c.Cookies() {
			if strings.Contains(left.Name, "session-token") {
				t.Errorf("%s is left", left.Name)
			}
		}
	}},
	{"a stream begins with the renewed cookie", func(f *framework) {
		f.stream("/stream", RequireSession, true)
	}, func(t *testing.T, f *framework) { proveStream(t, f, true) }},
	{"other goroutines look at the session while the handler answers", func(f *framework) {
		f.page("/beside", LoadSession, func(c Context) {
			ctx := c.Context()
			var looking sync.WaitGroup
			for range 4 {
				looking.Go(func() { latchkey.SessionFrom(ctx) })
			}
			for i := range 50 {
				c.SetCookie(fmt.Sprint("own", i), "1")
			}
			looking.Wait()
			c.Write(http.StatusOK, "here")
		})
	}, proveBeside},
	{lookedLate, func(f *framework) {
		f.stream("/stream", LoadSession, false)
	}, func(t *testing.T, f *framework) { proveStream(t, f, false) }},
	{"a panic is the framework's to recover from", func(f *framework) {
		f.page("/panic", RequireSession, func(Context) { panic("of the application") })
		f.page("/who", LoadSession, who)
	}, func(t *testing.T, f *framework) {
		c := f.openAs("Ada")
		answers(t, c.Get("/panic"), http.StatusInternalServerError, "")
		answers(t, f.open().Get("/who"), http.StatusOK, "here is nobody")
		answers(t, c.Get("/who"), http.StatusOK, "here is Ada")
	}},
	{"a session that is looked at when its request is over is in no other answer", func(f *framework) {
		left := make(chan context.Context, 1)
		f.page("/leave", LoadSession, func(c Context) {
			left <- c.Context()
			c.Write(http.StatusOK, "left")
		})
		f.page("/next", LoadSession, func(c Context) {
			s := latchkey.SessionFrom(<-left)
			c.Write(http.StatusOK, fmt.Sprint(s == nil || s.User.Name == "Ada")) // net/http ends the context, and the session is gone
		})
	}, func(t *testing.T, f *framework) {
		answers(t, f.openAs("Ada").Get("/leave"), http.StatusOK, "left")
		p := f.open().Get("/next")
		if answers(t, p, http.StatusOK, "true"); len(p.Header.Values("Set-Cookie")) > 0 {
			t.Errorf("a stranger gets %q", p.Header.Values("Set-Cookie"))
		}
	}},
	{"many people at one time are told apart", func(f *framework) {
		f.page("/members", RequireSession, who)
		f.page("/who", LoadSession, who)
		f.page("/unread", LoadSession, func(c Context) { c.Write(http.StatusOK, "public") })
	}, proveCrowd},
}

// lookedLate is a case that a framework has to except if its handlers return before their
// streams begin.
const lookedLate = "a session that is looked at when the stream has begun"

// stream adds a page of two parts. The second names the signed-in user, and is made after
// the browser has the first. With early the handler reads the session before the stream
// begins, and otherwise in the second part, when it is too late to renew the cookie.
func (f *framework) stream(path string, guard Guard, early bool) {
	f.page(path, guard, func(c Context) {
		text := ""
		if early {
			text = "here is " + nameOf(c.Session())
		}
		c.Stream(func() string { return "first" }, func() string {
			<-f.received
			if early {
				return text
			}
			return "here is " + nameOf(c.Session())
		})
	})
}

// streamTimeout bounds a request for a stream, so that a stream that hangs fails
// its test before the test's own deadline.
const streamTimeout = 30 * time.Second

// proveStream checks that a browser can read the first part of a stream before the server
// makes the second, and that the answer renews the session cookie if and only if renews is
// set.
func proveStream(t *testing.T, f *framework, renews bool) {
	t.Helper()
	c := f.openAs("Ada")
	defer f.release() // if the test ends early, the server would otherwise wait for ever
	ctx, cancel := context.WithTimeout(t.Context(), streamTimeout)
	defer cancel()
	res, err := ask(ctx, c, f.url+"/stream")
	ok(t, err)
	defer res.Body.Close()
	first := make([]byte, len("first"))
	_, err = io.ReadFull(res.Body, first)
	ok(t, err)
	f.release()
	rest, err := io.ReadAll(res.Body)
	ok(t, err)
	if string(first) != "first" || string(rest) != "here is Ada" {
		t.Errorf("the stream says %q, then %q", first, rest)
	}
	if renewed := setsCookie(&latchkeytest.Page{Header: res.Header}, "session-token"); renewed != renews {
		t.Errorf("the answer renews the session: %t, want %t", renewed, renews)
	}
	if c.Session() == nil {
		t.Error("the session is lost")
	}
}

// proveBeside checks R-526. Goroutines look at the session while the handler sets cookies.
// The answer has the cookie of the renewed session and the last one of the handler. The
// race detector reports a goroutine that writes headers.
func proveBeside(t *testing.T, f *framework) {
	t.Helper()
	c := f.openAs("Ada")
	for range 10 {
		p := c.Get("/beside")
		if answers(t, p, http.StatusOK, "here"); !setsCookie(p, "session-token") || !setsCookie(p, "own49") {
			t.Fatalf("%d cookies", len(p.Header.Values("Set-Cookie")))
		}
	}
}

// proveCrowd checks that concurrent requests of several users are answered to the right
// one.
func proveCrowd(t *testing.T, f *framework) {
	const people, rounds = 8, 40
	var browsers [people]*latchkeytest.Client
	for i := range browsers {
		browsers[i] = f.openAs(fmt.Sprint("Person-", i))
	}
	errs := race.Run(people, func(i int) error {
		for range rounds {
			greeting := fmt.Sprint("here is Person-", i)
			for path, want := range map[string]string{"/members": greeting, "/who": greeting, "/unread": "public"} {
				if err := checkPage(t.Context(), browsers[i], f.url+path, want); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for _, err := range errs {
		ok(t, err)
	}
}

// checkPage requests a page and returns an error unless its text is want. If want is
// "public", the page must set no session cookie, since it does not read the session. All
// others must set one. checkPage may run in any goroutine.
func checkPage(ctx context.Context, c *latchkeytest.Client, pageURL, want string) error {
	res, err := ask(ctx, c, pageURL)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return err
	case string(text) != want:
		return fmt.Errorf("%s says %q, want %q", pageURL, text, want)
	case setsCookie(&latchkeytest.Page{Header: res.Header}, "session-token") == (want == "public"):
		return fmt.Errorf("%s sets %q", pageURL, res.Header.Values("Set-Cookie"))
	}
	return nil
}

// ask requests a page with the cookies of c and leaves c as it is. It reads no more of the
// answer than its header: the caller reads the body and closes it. The error is that of a
// malformed URL, or of the request.
func ask(ctx context.Context, c *latchkeytest.Client, pageURL string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, pageURL, http.NoBody)
	if err != nil {
		return nil, err
	}
	for _, cookie := range c.Cookies() {
		req.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value, Quoted: cookie.Quoted})
	}
	return c.Transport.RoundTrip(req)
}

// calls are the calls of a handler that set cookies, by the word that manyCalls reads in a
// form. After "short" the session fits into one cookie, after "long" it takes several.
var calls = map[string]func(c Context){
	"session": func(c Context) { _, _ = c.Session() },
	"user":    func(c Context) { _, _ = c.CurrentUser() },
	"token":   func(c Context) { _, _ = c.CSRFToken() },
	"forms":   func(c Context) { _, _ = c.Forms() },
	"short":   func(c Context) { _, _ = c.UpdateSession(map[string]string{"name": "Countess"}) },
	"long":    func(c Context) { _, _ = c.UpdateSession(map[string]string{"name": strings.Repeat("Countess", 900)}) },
	"out":     func(c Context) { _, _ = c.SignOutURL(latchkey.SignOutOptions{RedirectTo: "/"}) },
}

// manyCalls is a handler that makes the calls that the field "calls" of the form names, in
// that order.
func manyCalls(c Context) {
	for _, call := range strings.Fields(c.FormValue("calls")) {
		calls[call](c)
	}
	c.Write(http.StatusOK, "done")
}

// proveOnce checks R-713, for random sequences of calls: an answer sets each cookie once and
// names each header once in Vary. A long session is in several cookies, its pieces. If an
// answer set pieces of two sessions, the browser would send a mixture.
func proveOnce(t *testing.T, f *framework) {
	t.Helper()
	seed, steps := race.Steps(t, 12)
	random := rand.New(rand.NewPCG(seed, 713))
	names := slices.Sorted(maps.Keys(calls))
	for i := range steps {
		do := []string{"session", "long", "session", "short"}
		if i > 0 {
			do = nil
			for range 1 + random.IntN(5) {
				do = append(do, names[random.IntN(len(names))])
			}
		}
		p := f.openAs("Ada").Post([]string{"/many", "/many/bare"}[i%2], url.Values{"calls": {strings.Join(do, " ")}})
		answers(t, p, http.StatusOK, "done")
		seen := map[string]bool{}
		note := func(what string) {
			if seen[what] {
				t.Errorf("R-713: after %v an answer has %s twice: %.900q", do, what, p.Header)
			}
			seen[what] = true
		}
		for _, line := range p.Header.Values("Set-Cookie") {
			name, _, _ := strings.Cut(line, "=")
			note("the cookie " + name)
		}
		for word := range strings.SplitSeq(strings.Join(p.Header.Values("Vary"), ","), ",") {
			note("Vary: " + strings.ToLower(strings.TrimSpace(word)))
		}
	}
}
