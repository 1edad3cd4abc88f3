package lateheader

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestMerge(t *testing.T) {
	for _, c := range []struct {
		name                  string
		response, added, want http.Header
	}{
		{"an empty response", http.Header{}, http.Header{"Vary": {"Cookie"}, "Cache-Control": {"private"}}, http.Header{"Vary": {"Cookie"}, "Cache-Control": {"private"}}},
		{"cookies come first", http.Header{"Set-Cookie": {"a=2"}}, http.Header{"Set-Cookie": {"b=1"}}, http.Header{"Set-Cookie": {"b=1", "a=2"}}},
		{"R-620 a cookie that the response sets", http.Header{"Set-Cookie": {"a=2"}}, http.Header{"Set-Cookie": {"a=1", "b=1"}}, http.Header{"Set-Cookie": {"b=1", "a=2"}}},
		{"a response that varies already", http.Header{"Vary": {"Accept, cookie"}}, http.Header{"Vary": {"Cookie"}}, http.Header{"Vary": {"Accept, cookie"}}},
		{"one that varies by everything", http.Header{"Vary": {"*"}}, http.Header{"Vary": {"Cookie"}}, http.Header{"Vary": {"*"}}},
		{"one that varies by something else", http.Header{"Vary": {"Accept"}}, http.Header{"Vary": {"Cookie", "Authorization"}}, http.Header{"Vary": {"Accept", "Cookie", "Authorization"}}},
		{"the response knows how to be cached", http.Header{"Cache-Control": {"max-age=5"}}, http.Header{"Cache-Control": {"private"}}, http.Header{"Cache-Control": {"max-age=5"}}},
		{"a token forbids to cache", http.Header{"Cache-Control": {"max-age=5"}}, http.Header{"Cache-Control": {"private, no-store"}}, http.Header{"Cache-Control": {"private, no-store"}}},
		{"any other header", http.Header{"Session-Token": {"old"}}, http.Header{"Session-Token": {"new"}}, http.Header{"Session-Token": {"new"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if Merge(c.response, c.added); !reflect.DeepEqual(c.response, c.want) {
				t.Errorf("%v, want %v", c.response, c.want)
			}
		})
	}
}

// a response that says something of a cookie has the last word on all its pieces.
func TestDecides(t *testing.T) {
	for _, c := range []struct {
		line, cookie string
		want         bool
	}{
		{"s=1; Path=/", "s", true},
		{"s=; Max-Age=0", "s", true},
		{"s.0=1", "s", true},
		{"s=", "s.0", true},
		{"s.0=", "s.12", true},
		{"__Secure-s=", "__Host-s.0", true},
		{"s.1.0=", "s.1", true},
		{"s=", "t", false},
		{"s1=", "s", false},
		{"s.x=", "s", false},
		{"s.=", "s", false},
		{".s=", "s", false},
		{"", "s", false},
	} {
		if got := Decides([]string{"other=1", c.line}, c.cookie); got != c.want {
			t.Errorf("R-620 %q decides %s: %t, want %t", c.line, c.cookie, got, c.want)
		}
	}
}

// nothing is collected when the response has begun, and what is taken is
// taken once.
func TestHeader(t *testing.T) {
	var h Header
	add := func(to http.Header) { to.Add("Set-Cookie", "a=1") }
	if got := h.Take(); got != nil {
		t.Errorf("an empty header: %v", got)
	}
	h.Change(add)
	if got := h.Take(); len(got["Set-Cookie"]) != 1 || h.Take() != nil {
		t.Errorf("taken: %v", got)
	}
	h.Change(add)
	a := httptest.NewRecorder()
	_, w := Wrap(a, &h)
	w.Begin()
	h.Change(add)
	if w.Begin(); len(a.Header()["Set-Cookie"]) != 1 || h.Take() != nil {
		t.Errorf("sent: %v", a.Header())
	}
}

// The methods of the writers of others, each by itself.
type (
	bare      struct{ http.ResponseWriter }
	flushes   struct{}
	hijacks   struct{}
	notifies  struct{}
	readsFrom struct{}
	pushes    struct{}
)

func (flushes) Flush()                                       {}
func (hijacks) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, nil }
func (notifies) CloseNotify() <-chan bool                    { return nil }
func (readsFrom) ReadFrom(io.Reader) (int64, error)          { return 0, nil }
func (pushes) Push(string, *http.PushOptions) error          { return nil }

// methods returns which of the methods that only some writers have w has.
func methods(w http.ResponseWriter) (names []string) {
	for i := range reflect.TypeOf(w).NumMethod() {
		name := reflect.TypeOf(w).Method(i).Name
		if slices.Contains([]string{"Flush", "Hijack", "CloseNotify", "ReadFrom", "Push"}, name) {
			names = append(names, name)
		}
	}
	return names
}

// A handler finds the methods of the writer that was wrapped, and never one that it
// lacks.
func TestMethods(t *testing.T) {
	var inner http.ResponseWriter = httptest.NewRecorder()
	for _, w := range []http.ResponseWriter{
		bare{inner},
		struct {
			bare
			flushes
		}{},
		struct {
			bare
			hijacks
		}{},
		struct {
			bare
			flushes
			hijacks
		}{},
		struct {
			bare
			flushes
			notifies
		}{},
		struct {
			bare
			flushes
			hijacks
			notifies
		}{},
		struct {
			bare
			flushes
			hijacks
			notifies
			readsFrom
		}{},
		struct {
			bare
			flushes
			notifies
			pushes
		}{},
	} {
		got, _ := Wrap(w, new(Header))
		if !slices.Equal(methods(got), methods(w)) {
			t.Errorf("%q, want %q", methods(got), methods(w))
		}
	}
}

// What is written by a real server, in each of the ways that a handler has.
func TestServer(t *testing.T) {
	for name, write := range map[string]func(http.ResponseWriter){
		"Write":       func(w http.ResponseWriter) { _, _ = w.Write([]byte("x")) },
		"WriteString": func(w http.ResponseWriter) { _, _ = io.WriteString(w, "x") },
		"ReadFrom":    func(w http.ResponseWriter) { _, _ = w.(io.ReaderFrom).ReadFrom(strings.NewReader("x")) },
		"Flush":       func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
		"Hijack": func(w http.ResponseWriter) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\nVary: "+w.Header().Get("Vary")+"\r\n\r\n")
			_ = conn.Close()
		},
		"nothing": func(http.ResponseWriter) {},
	} {
		t.Run("R-526 "+name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				var h Header
				var all sync.WaitGroup
				for range 3 {
					all.Go(func() { h.Change(func(to http.Header) { to["Vary"] = []string{"Cookie"} }) })
				}
				all.Wait()
				wrapped, own := Wrap(w, &h)
				defer own.Begin()
				write(wrapped)
			}))
			defer server.Close()
			res, err := server.Client().Get(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.Header.Get("Vary") != "Cookie" {
				t.Errorf("%v", res.Header)
			}
		})
	}
}
