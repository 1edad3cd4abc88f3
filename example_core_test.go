package latchkey_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// A whole site without net/http: the routes of the library, and a guard in front
// of everything else. A framework turns its own requests into these, and these
// responses into its own.
func ExampleCore() {
	core := exampleAuth().Core()
	guard := func(ctx context.Context, r *latchkey.Request) latchkey.Access {
		return core.Authorize(ctx, r, func(_ *latchkey.Request, s *latchkey.Session) error {
			if s == nil {
				return latchkey.ErrNoSession
			}
			return nil
		})
	}
	answer := func(ctx context.Context, r *latchkey.Request) *latchkey.Response {
		if core.Match(ctx, r) {
			return core.Respond(ctx, r)
		}
		access := guard(ctx, r)
		res := access.Response
		if res == nil {
			res = &latchkey.Response{Body: []byte("Hello, " + access.Session.User.Name)}
		}
		res.Cookies = append(res.Cookies, access.Cookies...)
		return res
	}
	for _, path := range []string{"/auth/session", "/members"} {
		res := answer(context.Background(), &latchkey.Request{
			Method: http.MethodGet, URL: &url.URL{Path: path}, Host: "app.example", Header: http.Header{},
			RemoteAddr: "203.0.113.7", TLS: true,
		})
		fmt.Println(path, res.Redirect, string(res.Body))
	}
	// Output:
	// /auth/session  null
	// /members https://app.example/auth/signin?callbackUrl=https%3A%2F%2Fapp.example%2Fmembers
}

// Who asks, and the cookies that keep them signed in.
func ExampleCore_ReadSession() {
	core := exampleAuth().Core()
	r := &latchkey.Request{Method: http.MethodGet, URL: &url.URL{Path: "/"}, Host: "app.example", Header: http.Header{}}
	s, cookies, err := core.ReadSession(context.Background(), r)
	if errors.Is(err, latchkey.ErrNoSession) {
		fmt.Println("nobody is signed in", s == nil, len(cookies))
	}
	// Output: nobody is signed in true 0
}

// Handlers of a framework without net/http ask the context.
func ExampleCore_LoadSession() {
	core := exampleAuth().Core()
	r := &latchkey.Request{Method: http.MethodGet, URL: &url.URL{Path: "/"}, Host: "app.example", Header: http.Header{}}
	response := http.Header{} // where renewed cookies go
	ctx := core.LoadSession(context.Background(), r, response)
	fmt.Println(latchkey.SessionFrom(ctx) == nil)
	// Output: true
}

// A framework that has an http.Request and a response of its own.
func ExampleFromHTTP() {
	core := exampleAuth().Core()
	handle := func(w http.ResponseWriter, r *http.Request) {
		neutral, err := latchkey.FromHTTP(r)
		switch {
		case errors.Is(err, latchkey.ErrBodyTooLarge):
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		case err != nil:
			w.WriteHeader(http.StatusBadRequest)
		default:
			core.Respond(r.Context(), neutral).Send(w)
		}
	}
	answer := httptest.NewRecorder()
	handle(answer, httptest.NewRequest(http.MethodGet, "/auth/session", nil))
	fmt.Println(answer.Code, answer.Body)
	// Output: 200 null
}
