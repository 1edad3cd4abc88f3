package sitetest

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// TestStreamsLearnOfTheEnd runs what docs/streams.md shows: a handler that goes on for
// long reads the session again, which its context remembers.
func TestStreamsLearnOfTheEnd(t *testing.T) {
	for name, strategy := range map[string]latchkey.Strategy{"stored": latchkey.DatabaseSessions, "JWT": latchkey.JWTSessions} {
		t.Run(name, func(t *testing.T) {
			issuer := latchkeytest.NewIssuer(t)
			auth, err := latchkey.New(latchkey.Config{
				Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"the output of openssl rand -base64 33"},
				Session: latchkey.SessionConfig{Strategy: strategy}, Adapter: memoryadapter.New(memoryadapter.Options{}),
				Providers: []latchkey.Provider{issuer.Provider()}, Runtime: latchkey.Runtime{Logger: quiet},
			})
			if err != nil {
				t.Fatal(err)
			}
			var before, after bool
			browser := latchkeytest.NewClient(t, auth.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				s := latchkey.SessionFrom(r.Context())
				if s == nil {
					return
				}
				before = hasEnded(auth, r, s.UserID)
				if err := auth.Users().EndSessions(r.Context(), s.UserID); err != nil {
					t.Error(err)
				}
				after = hasEnded(auth, r, s.UserID)
			})))
			browser.SignIn(issuer)
			browser.Get("/news")
			if before || !after {
				t.Errorf("ended before the end: %t, after it: %t, want false and true", before, after)
			}
		})
	}
}

// hasEnded reports whether the cookie of r is no session of this user any more. A
// store that does not answer ends no stream.
func hasEnded(auth *latchkey.Auth, r *http.Request, userID string) bool {
	s, err := auth.ReadSession(nowhere{}, r.Clone(context.Background())) // a context that remembers no session
	return errors.Is(err, latchkey.ErrNoSession) || err == nil && s.UserID != userID
}

// nowhere takes the renewed cookie, which cannot be sent any more.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) WriteHeader(int)             {}
