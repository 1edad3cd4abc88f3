package latchkey_test

import (
	"context"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// roleOf stands for a look at the application's own table of roles, by user id.
func roleOf(userID string) string {
	if userID == "8d0f2b5e-7c1a-4b8e-9a53-0d6f3c2e1b47" {
		return "editor"
	}
	return "reader"
}

// invited stands for a look at the application's own list of addresses.
func invited(email string) bool { return strings.HasSuffix(email, "@acme.example") }

// callbacks decide which users may sign in, and give every session a role. They
// work with both strategies: with JWTSessions the token remembers the role, with
// DatabaseSessions it is looked up at every read. A role belongs to a user's id. An
// address decides only if the provider vouched for it.
var callbacks = latchkey.Callbacks{
	SignIn: func(_ context.Context, a latchkey.SignInAttempt) error {
		switch {
		case !a.Account.EmailVouched || !invited(a.Account.Email):
			return latchkey.ErrAccessDenied
		case a.User.Name == "":
			return latchkey.RedirectTo("/complete-your-profile")
		}
		return nil
	},
	Token: func(_ context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) {
		if t.Trigger == latchkey.TriggerSignIn || t.Trigger == latchkey.TriggerSignUp {
			t.Claims["role"] = roleOf(t.User.ID)
		}
		return t.Claims, nil
	},
	Session: func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
		role, err := latchkey.Value[string](r.Claims, "role")
		if err != nil { // a stored session, or a token from before there were roles
			role = roleOf(r.Session.UserID)
		}
		r.Session.Extra = latchkey.Claims{"role": role}
		return r.Session, nil
	},
}

// Callbacks decide which users may sign in and what a session holds.
func ExampleCallbacks() {
	_, err := latchkey.New(latchkey.Config{
		Providers: []latchkey.Provider{&latchkey.OAuth{ID: "acme", OIDC: true, Issuer: "https://id.acme.example"}},
		Callbacks: callbacks,
	})
	if err != nil {
		return
	}
}
