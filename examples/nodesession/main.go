// Command nodesession is an API in Go beside a Node server with Auth.js. People sign
// in there; this one reads their sessions, with AUTH_SECRET and package jwt alone.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"

	"github.com/latchkeyhq/latchkey/jwt"
)

func main() {
	port := flag.String("port", "4000", "to listen on")
	flag.Parse()
	// AUTH_SECRET, and AUTH_URL, the Node server's: its https has other names for cookies.
	api, err := newAPI(jwt.TokenParams{})
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "localhost:"+*port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://localhost:%d\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, api))
}

func newAPI(p jwt.TokenParams) (http.Handler, error) {
	if _, err := jwt.GetToken(http.Header{"Authorization": {"Bearer x"}}, p); errors.Is(err, jwt.ErrNoSecret) {
		return nil, errors.New("set AUTH_SECRET to that of the Node server")
	}
	api := http.NewServeMux()
	api.HandleFunc("GET /me", me)
	guarded := signedIn(p, api)
	return http.NewCrossOriginProtection().Handler(guarded), nil // pages of other sites cannot post
}

type claimsKey struct{}

// signedIn lets only requests with a session pass. What is wrong with a token
// is not told.
func signedIn(p jwt.TokenParams, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		claims, err := jwt.GetToken(r.Header, p) // the cookie, in pieces too, or Authorization: Bearer
		if err != nil {
			answer(w, http.StatusUnauthorized, map[string]string{"error": "sign in first"})
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), claimsKey{}, claims)))
	})
}

func me(w http.ResponseWriter, r *http.Request) {
	claims := r.Context().Value(claimsKey{}).(jwt.Claims)
	answer(w, http.StatusOK, map[string]string{
		"id": claims.String("sub"), "name": claims.String("name"), "email": claims.String("email"),
	})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Vary", "Cookie, Authorization")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
