package frameworktest

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
)

// targetCases are about request targets that no browser sends (RFC 9112, section 3.2).
var targetCases = []testCase{
	{"no request target reaches a handler behind the guard of a whole site", func(f *framework) {
		f.site.Guarded = true
		f.site.CatchAll = func(c Context) {
			f.reached.add("handler")
			who(c)
		}
	}, proveTargets},
	{"the guard of a whole site lets its sign-in page pass, and no page of another host", func(f *framework) {
		f.site.Guarded = true
		f.config.Site.URL, f.config.Pages.SignIn = "http://app.example", "/login"
		f.site.CatchAll = func(c Context) {
			f.reached.add("handler")
			c.Write(http.StatusOK, "mine")
		}
	}, func(t *testing.T, f *framework) {
		for _, c := range []struct {
			host, target string
			reached      int
		}{
			{"admin.example", "/login", 0},
			{"app.example:81", "/login", 0},
			{"app.example", "/login/", 0},
			{"app.example", "//login", 0},
			{"app.example", "/x/../login", 0},
			{"app.example", "/%6Cogin", 0},
			{"app.example", "/login?x=y", 1},
		} {
			ok(t, f.sendTarget(t.Context(), http.MethodGet, c.target, c.host))
			if n := f.reached.count("handler"); n != c.reached {
				t.Errorf("R-681: %s at %s reaches the handler %d times, want %d", c.target, c.host, n, c.reached)
			}
		}
	}},
	{"the guard of a whole site lets the pages pass that a sign-in needs, and no other", func(f *framework) {
		f.site.Guarded = true
		f.config.Site.URL, f.config.Pages.SignIn, f.config.Pages.VerifyRequest, f.config.Pages.NewUser = "http://app.example", "/login", "/mailed", "/welcome"
		f.site.CatchAll = func(c Context) {
			f.reached.add("handler")
			c.Write(http.StatusOK, "mine")
		}
	}, func(t *testing.T, f *framework) {
		for _, target := range []string{"/welcome", "/mailed/", "/x/../mailed", "/members/note", "/mailed?provider=post"} {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				before := f.reached.count("handler")
				ok(t, f.sendTarget(t.Context(), method, target, "app.example"))
				if reached := f.reached.count("handler") != before; reached != strings.HasPrefix(target, "/mailed?") {
					t.Errorf("R-704: %s %s reaches the handler: %t", method, target, reached)
				}
			}
		}
	}},
	{"the guard of a whole site takes no path that was rewritten for its sign-in page", behindRewriting("/login"), proveRewritten},
	{"nor one that names the rewritten part twice", behindRewriting("/shop/login"), proveRewritten},
}

// behindRewriting returns the setup of a guarded site whose Pages.SignIn is signIn. A handler
// in front takes "/shop" off each path. Neither Site.Prefix nor a proxy knows of it.
func behindRewriting(signIn string) func(*framework) {
	return func(f *framework) {
		f.site.Guarded, f.site.StripPrefix = true, "/shop"
		f.config.Site.URL, f.config.Pages.SignIn = "http://app.example", signIn
		f.site.CatchAll = func(c Context) {
			f.reached.add("handler")
			c.Write(http.StatusOK, "mine")
		}
	}
}

// proveRewritten checks that the guard passes only requests for the path of the sign-in page
// as the client asked for it, whatever a handler has made of the path since.
func proveRewritten(t *testing.T, f *framework) {
	t.Helper()
	seed, steps := race.Steps(t, 40)
	random := rand.New(rand.NewPCG(seed, 711))
	pieces := []string{"/login", "/shop", "/shop", "/", "?x=y", "/login/", "/./login", "/%6Cogin", "/x/../login"}
	targets := []string{"/shop/login", "/shop/shop/login", "/shop/shop/shop/login", "/shop/login?x=y"}
	for range steps {
		target := "/shop"
		for range 1 + random.IntN(3) {
			target += pieces[random.IntN(len(pieces))]
		}
		targets = append(targets, target)
	}
	for _, target := range targets {
		before := f.reached.count("handler")
		ok(t, f.sendTarget(t.Context(), http.MethodGet, target, "app.example"))
		path, _, _ := strings.Cut(target, "?")
		if n := f.reached.count("handler"); n != before && path != f.config.Pages.SignIn {
			t.Fatalf("R-711: %s reaches the handler behind the guard, and is not the page %s", target, f.config.Pages.SignIn)
		}
	}
}

// oddTargets are request targets by what is odd about them. HOST is the host of the
// site.
var oddTargets = []string{
	"private/x", "private", ".", "..", "./private/x", "../private/x", // no slash
	"*", "?", "?x", "?/private/x", ";", "#", "%2Fprivate/x", "%2fprivate%2fx", `\private\x`, "-", "~", // nor a path
	"/", "//", "///private/x", "//private/x", "/./private/x", "/../private/x", "/private/../private/x", "/private/..",
	"/private/%2e%2e/x", "/private%2Fx", "/%70rivate/x", "/PRIVATE/x", "/private/x/", "/private;x=1", "/x://y", "/x//y://z", "/private/%zz",
	"HOST", "HOST/private/x", "http://HOST", "http://HOST?x", "http://HOST#x", "http://HOST/private/x", "HTTP://HOST/private/x", "http://other.example/private/x",
	"http:/private/x", "http:private/x", "http:///private/x", "://HOST", "x:y", "x://y", "x://y?z", "x//y", "//HOST/private/x", "http://u:p@HOST/x", "private/x://y",
}

// targetPieces are what random targets are made of.
var targetPieces = []string{"/", "//", ".", "..", "*", "?", ":", "://", "#", ";", "@", "\\", "%2F", "%2e", "%00", "%", "private", "x", "http", "HOST", "auth", "signin"}

// proveTargets checks that no request target, odd or random, reaches the handler behind
// the guard without a session. It writes the requests itself, since net/http sends no such
// targets. Fiber, for one, runs no middleware for a target that does not begin with a slash,
// while its routes with a star take it.
func proveTargets(t *testing.T, f *framework) {
	t.Helper()
	host := strings.TrimPrefix(f.url, "http://")
	seed, steps := race.Steps(t, 40)
	random := rand.New(rand.NewPCG(seed, 0))
	targets := append([]string(nil), oddTargets...)
	for range steps {
		target := ""
		for range 1 + random.IntN(6) {
			target += targetPieces[random.IntN(len(targetPieces))]
		}
		targets = append(targets, target)
	}
	for _, target := range targets {
		target = strings.ReplaceAll(target, "HOST", host)
		for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS", "CONNECT"} {
			if err := f.sendTarget(t.Context(), method, target, host); err != nil {
				t.Fatal(err)
			}
			if n := f.reached.count("handler"); n != 0 {
				t.Fatalf("R-521: %s %s reaches the handler behind the guard", method, target)
			}
		}
	}
	answers(t, f.openAs("Ada").Get("/private/x"), http.StatusOK, "here is Ada")
}

// sendTarget sends the head of a request with target as it is. It waits for the first line
// of the answer, the end of the connection, or streamTimeout. It returns an error only if
// it cannot connect, and nil for a refused request.
func (f *framework) sendTarget(ctx context.Context, method, target, host string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(streamTimeout)) // a connection has deadlines
	if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", method, target, host); err != nil {
		return nil // refused already
	}
	_, _ = bufio.NewReader(conn).ReadString('\n')
	return nil
}
