package sitetest

import (
	"context"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// roleOf stands for a look at the application's own tables.
func roleOf(email string) string {
	if email == "ada@acme.example" {
		return "editor"
	}
	return "reader"
}

// callbacks decide who may sign in, and give every session a role. They work
// with both strategies: with JWTSessions the token remembers the role, with
// DatabaseSessions the stored user is there to be asked about.
var callbacks = latchkey.Callbacks{
	SignIn: func(_ context.Context, a latchkey.SignInAttempt) error {
		switch {
		case !strings.HasSuffix(a.User.Email, "@acme.example"):
			return latchkey.ErrAccessDenied
		case a.User.Name == "":
			return latchkey.RedirectTo("/complete-your-profile")
		}
		return nil
	},
	Token: func(_ context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) {
		if t.Trigger == latchkey.TriggerSignIn || t.Trigger == latchkey.TriggerSignUp {
			t.Claims["role"] = roleOf(t.User.Email)
		}
		return t.Claims, nil
	},
	Session: func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
		role, err := latchkey.Value[string](r.Claims, "role")
		if err != nil { // a stored session, or a token from before there were roles
			role = roleOf(r.Session.User.Email)
		}
		r.Session.Extra = latchkey.Claims{"role": role}
		return r.Session, nil
	},
}
