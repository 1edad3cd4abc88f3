package oauth

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// everyCall runs f once for each call to the provider, with its path and a
// function that makes the call.
func everyCall(t *testing.T, f *fake, change func(*Config), check func(t *testing.T, path string, step Step, call func(context.Context) error)) {
	for _, row := range []struct {
		path string
		step Step
		call func(context.Context, *Client) error
	}{
		{discoveryPath, StepDiscovery, func(ctx context.Context, c *Client) error {
			_, err := c.AuthorizationURL(ctx, AuthRequest{State: "canary"})
			return err
		}},
		{keysPath, StepKeys, func(ctx context.Context, c *Client) error {
			_, err := c.VerifyIDToken(ctx, f.idToken(nil), IDTokenCheck{})
			return err
		}},
		{"/token", StepToken, func(ctx context.Context, c *Client) error {
			_, err := c.Exchange(ctx, "canary-code", callback, "canary-verifier", nil)
			return err
		}},
		{"/userinfo", StepUserInfo, func(ctx context.Context, c *Client) error {
			_, err := c.UserInfo(ctx, "canary-token", "person-1")
			return err
		}},
	} {
		t.Run(string(row.step), func(t *testing.T) {
			f.behave()
			c := f.client(t, func(c *Config) { c.UserInfo.Params = map[string][]string{"q": {"canary"}}; change(c) })
			check(t, row.path, row.step, func(ctx context.Context) error { return row.call(ctx, c) })
		})
	}
}

func unchanged(*Config) {}

func TestR047RedirectsAreNotFollowed(t *testing.T) {
	f, other := newFake(t), newFake(t)
	everyCall(t, f, unchanged, func(t *testing.T, path string, step Step, call func(context.Context) error) {
		for _, status := range []int{301, 302, 303, 304, 307, 308} {
			f.answer(path, func(w http.ResponseWriter, r *http.Request) {
				target := f.URL
				if step == StepDiscovery {
					target = other.URL
				}
				w.Header().Set("Location", target+"/evil?canary")
				w.WriteHeader(status)
			})
			err := call(t.Context())
			wantStep(t, err, step, "redirect")
			if step == StepDiscovery || step == StepKeys {
				break // failures are remembered
			}
		}
		if n := f.hits("/evil") + other.hits("/evil"); n != 0 {
			t.Errorf("the target got %d requests", n)
		}
	})
}

func TestR370DiscoveryFollowsRedirectsWithinItsOrigin(t *testing.T) {
	moved := discoveryPath + "/"
	for _, row := range []struct {
		name     string
		location func(f *fake) string
		want     string // of the error; empty: followed
	}{
		{"to the final slash", func(*fake) string { return moved }, ""},
		{"by an absolute URL", func(f *fake) string { return f.URL + moved }, ""},
		{"to another port", func(*fake) string { return "http://127.0.0.1:1" + moved }, "redirect"},
		{"to another host", func(f *fake) string { return strings.Replace(f.URL, "127.0.0.1", "localhost", 1) + moved }, "redirect"},
		{"to another host without scheme", func(*fake) string { return "//evil.example" + moved }, "redirect"},
		{"to https", func(f *fake) string { return strings.Replace(f.URL, "http:", "https:", 1) + moved }, "redirect"},
		{"with a user", func(f *fake) string { return strings.Replace(f.URL, "//", "//canary@", 1) + moved }, "redirect"},
		{"to a file", func(*fake) string { return "file:///etc/passwd" }, "redirect"},
		{"to nowhere", func(*fake) string { return "" }, "redirect"},
		{"in a circle", func(*fake) string { return discoveryPath }, "too many redirects"},
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			t.Run(fmt.Sprintf("R-370 %s %d", row.name, status), func(t *testing.T) {
				f := newFake(t)
				f.answer(discoveryPath, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Location", row.location(f))
					w.WriteHeader(status)
				})
				f.answer(moved, func(w http.ResponseWriter, r *http.Request) {
					sendJSON(w, 200, map[string]any{"issuer": f.URL, "authorization_endpoint": f.URL + "/authorize"})
				})
				_, err := f.client(t).Discover(t.Context())
				if row.want == "" && err != nil {
					t.Fatal(err)
				}
				if row.want != "" {
					wantStep(t, err, StepDiscovery, row.want)
				}
				if n := f.hits(discoveryPath); n > 5 { // a few
					t.Errorf("%d requests", n)
				}
			})
		}
	}
	t.Run("R-370 the issuer is compared as ever", func(t *testing.T) {
		f := newFake(t)
		f.answer(discoveryPath, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, moved, http.StatusFound) })
		f.answer(moved, send(200, "application/json", `{"issuer":"`+f.URL+`/"}`))
		_, err := f.client(t).Discover(t.Context())
		wantStep(t, err, StepDiscovery, "slash")
	})
}

func TestR228HugeAnswersAreCut(t *testing.T) {
	f := newFake(t)
	huge := func(w io.Writer) {
		line := []byte(strings.Repeat(" ", 1<<16))
		for range 32 {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}
	t.Run("R-228 body", func(t *testing.T) {
		everyCall(t, f, unchanged, func(t *testing.T, path string, step Step, call func(context.Context) error) {
			f.answer(path, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				huge(w)
				io.WriteString(w, `{"access_token":"canary","token_type":"bearer","sub":"person-1"}`)
			})
			wantStep(t, call(t.Context()), step, "too large")
		})
	})
	t.Run("R-228 body that decompresses", func(t *testing.T) {
		everyCall(t, f, unchanged, func(t *testing.T, path string, step Step, call func(context.Context) error) {
			f.answer(path, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(w)
				huge(z)
				z.Close()
			})
			wantStep(t, call(t.Context()), step, "too large")
		})
	})
	t.Run("R-228 headers", func(t *testing.T) {
		manyHeaders := func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Canary", strings.Repeat("canary ", 10000))
			sendJSON(w, 200, map[string]any{})
		}
		everyCall(t, f, unchanged, func(t *testing.T, path string, step Step, call func(context.Context) error) {
			f.answer(path, manyHeaders)
			wantStep(t, call(t.Context()), step, "")
		})
		own := func(c *Config) { c.HTTP = f.Client() } // without a limit of its own
		everyCall(t, f, own, func(t *testing.T, path string, step Step, call func(context.Context) error) {
			f.answer(path, manyHeaders)
			wantStep(t, call(t.Context()), step, "headers")
		})
	})
	t.Run("a limit of its own", func(t *testing.T) {
		c := f.client(t, func(c *Config) { c.MaxBody = 10 })
		_, err := c.Discover(t.Context())
		wantStep(t, err, StepDiscovery, "too large")
	})
}

// patient is a transport that waits for every usual answer of the provider: a short
// CallTimeout would, whenever the machine is busy, end a call that is well too.
type patient struct{ f *fake }

func (p patient) RoundTrip(r *http.Request) (*http.Response, error) {
	p.f.mu.Lock()
	unusual := p.f.answers[r.URL.Path] != nil
	p.f.mu.Unlock()
	if !unusual {
		r = r.WithContext(context.WithoutCancel(r.Context()))
	}
	return p.f.Client().Transport.RoundTrip(r)
}

func TestR227SlowProviders(t *testing.T) {
	f := newFake(t)
	stuck := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	short := func(c *Config) { c.CallTimeout, c.HTTP = 150*time.Millisecond, &http.Client{Transport: patient{f}} }
	t.Run("R-227 every call has its time", func(t *testing.T) {
		everyCall(t, f, short, func(t *testing.T, path string, step Step, call func(context.Context) error) {
			if path != discoveryPath {
				f.answer(discoveryPath, nil)
			}
			f.answer(path, stuck)
			err := call(t.Context())
			wantStep(t, err, step, "deadline")
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v is not DeadlineExceeded", err)
			}
		})
	})
	t.Run("R-227 the body too", func(t *testing.T) {
		everyCall(t, f, short, func(t *testing.T, path string, step Step, call func(context.Context) error) {
			f.answer(path, func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, "{")
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			})
			wantStep(t, call(t.Context()), step, "deadline")
		})
	})
	t.Run("R-227 the caller's context ends it", func(t *testing.T) {
		everyCall(t, f, unchanged, func(t *testing.T, path string, step Step, call func(context.Context) error) {
			ctx, cancel := context.WithCancel(t.Context())
			f.answer(path, func(w http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
			err := call(ctx)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			wantStep(t, err, step, "canceled")
			f.CloseClientConnections()
		})
	})
}

func TestR230CertificatesAreVerified(t *testing.T) {
	f := newFake(t)
	secure := httptest.NewUnstartedServer(http.HandlerFunc(f.serve))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // failed handshakes are the point
	secure.StartTLS()
	defer secure.Close()
	plainURL := f.URL
	f.URL = secure.URL
	defer func() { f.URL = plainURL }()

	_, err := f.client(t).Discover(t.Context())
	wantStep(t, err, StepDiscovery, "certificate")
	if n := f.hits(discoveryPath); n != 0 {
		t.Errorf("%d requests got through", n)
	}
	if _, err := f.client(t, func(c *Config) { c.HTTP = secure.Client() }).Discover(t.Context()); err != nil {
		t.Errorf("with its root: %v", err)
	}
	wrongHost := strings.Replace(secure.URL, "127.0.0.1", "localhost", 1)
	_, err = f.client(t, func(c *Config) { c.HTTP, c.Issuer = secure.Client(), wrongHost }).Discover(t.Context())
	wantStep(t, err, StepDiscovery, "certificate")
}

func TestR239TransportErrorsAreClean(t *testing.T) {
	f := newFake(t)
	closed := func() string { s := httptest.NewServer(nil); defer s.Close(); return s.URL }()
	t.Run("R-239 nobody listens", func(t *testing.T) {
		c := newClient(t, f.plain(), func(c *Config) {
			c.UserInfo = Endpoint{URL: closed + "/u", Params: map[string][]string{"q": {"canary"}}}
		})
		_, err := c.UserInfo(t.Context(), "canary", "")
		wantStep(t, err, StepUserInfo, "network failure")
	})
	for name, cause := range map[string]error{
		"of any kind":    errors.New("canary: POST https://op.example?code=canary"),
		"no such name":   &net.DNSError{Err: "canary", Name: "canary.example"},
		"of the network": &net.OpError{Op: "dial", Err: errors.New("canary")},
	} {
		t.Run("R-239 "+name, func(t *testing.T) {
			c := newClient(t, f.plain(), func(c *Config) {
				c.Issuer = f.URL
				c.HTTP = &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) { return nil, cause })}
			})
			_, err := c.Exchange(t.Context(), "canary-code", callback, "canary-verifier", nil)
			wantStep(t, err, StepToken, "")
			_, err = c.UserInfo(t.Context(), "canary-token", "")
			wantStep(t, err, StepUserInfo, "")
			_, err = c.VerifyIDToken(t.Context(), f.idToken(nil), IDTokenCheck{})
			wantStep(t, err, StepDiscovery, "")
		})
	}
	t.Run("R-239 an answer that is not HTTP", func(t *testing.T) {
		everyCall(t, f, unchanged, func(t *testing.T, path string, step Step, call func(context.Context) error) {
			f.answer(path, func(w http.ResponseWriter, _ *http.Request) {
				conn, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				io.WriteString(conn, "canary eyJ\r\n\r\n")
				conn.Close()
			})
			wantStep(t, call(t.Context()), step, "")
		})
	})
}

func TestTheClientsOwnHTTPClientIsCopied(t *testing.T) {
	f := newFake(t)
	jar := must(cookiejar.New(nil))
	given := f.Client()
	given.Jar = jar
	f.answer(discoveryPath, func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		sendJSON(w, 200, map[string]any{"issuer": f.URL})
	})
	c := f.client(t, func(c *Config) { c.HTTP, c.Cache = given, &Cache{} })
	for range 2 {
		if _, err := c.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if given.CheckRedirect != nil || given.Jar != jar {
		t.Error("the given client was changed")
	}
	if cookies := f.last(t, discoveryPath).Cookies(); len(cookies) != 0 {
		t.Errorf("cookies were kept: %v", cookies)
	}
}
