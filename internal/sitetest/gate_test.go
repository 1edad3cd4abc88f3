package sitetest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// An error of Callbacks.SignIn that says of what kind it is stays of that kind,
// whatever the provider.
func TestSignInCallbackTypes(t *testing.T) {
	for _, c := range []struct {
		name        string
		says        error
		error, code string // in the query of the page
	}{
		{"a code of its own", latchkey.CredentialsError("locked"), "CredentialsSignin", "locked"},
		{"a code without a text", latchkey.CredentialsError(""), "CredentialsSignin", "credentials"},
		{"a type", latchkey.ErrVerification, "Verification", ""},
		{"a type of the sign-in page", latchkey.ErrOAuthAccountNotLinked, "OAuthAccountNotLinked", ""},
		{"a type that nobody is shown", latchkey.ErrAdapter, "Configuration", ""},
		{"an Error", &latchkey.Error{Type: latchkey.ErrVerification, Err: errors.New("why")}, "Verification", ""},
		{"wrapped", fmt.Errorf("policy: %w", latchkey.CredentialsError("locked")), "CredentialsSignin", "locked"},
		{"no type", errors.New("no"), "AccessDenied", ""},
		{"no type, though known", latchkey.ErrNotFound, "AccessDenied", ""},
	} {
		t.Run("R-307 "+c.name, func(t *testing.T) {
			asked := 0
			s := newOAuthSite(t, func(cfg *latchkey.Config) {
				cfg.Callbacks.SignIn = func(_ context.Context, a latchkey.SignInAttempt) error {
					if asked++; a.VerificationRequest {
						return nil
					}
					return c.says
				}
			})
			for way, a := range map[string]*answer{
				"oidc":        s.signIn(s.newBrowser()),
				"credentials": s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "wonderland"),
				"email":       func(b *browser) *answer { return b.get(b.askForLink("ada@example.com")) }(s.newBrowser()),
			} {
				u, err := url.Parse(a.location())
				if err != nil || a.signsIn() || u.Query().Get("error") != c.error || u.Query().Get("code") != c.code {
					t.Errorf("%s: sent to %q", way, a.location())
				}
			}
			if asked != 4 {
				t.Errorf("asked %d times", asked)
			}
		})
	}
	t.Run("R-307 before a mail, and to the application's own code", func(t *testing.T) {
		s := newSite(t, func(cfg *latchkey.Config) {
			cfg.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error { return latchkey.CredentialsError("locked") }
		})
		if a := s.newBrowser().post("/auth/signin/post", "email", "ada@example.com"); a.error() != "CredentialsSignin" || len(s.sent()) != 0 {
			t.Errorf("sent to %q, %d mails", a.location(), len(s.sent()))
		}
		r := s.newBrowser().request("POST", "/own", "", "")
		form := url.Values{"username": {"alice"}, "password": {"wonderland"}}
		_, err := s.auth.Core().SignIn(t.Context(), requestOf(r), "crew", latchkey.SignInOptions{Form: form})
		if e, ok := errors.AsType[*latchkey.Error](err); !ok || e.Type != latchkey.ErrCredentialsSignin || e.Code != "locked" || e.Provider != "crew" {
			t.Errorf("%v", err)
		}
	})
}
