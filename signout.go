package latchkey

import (
	"context"
	"net/http"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// signOut answers POST /signout. Whatever the store does, this browser is signed out. A
// session that could not be ended there is an error in the log; with StrictSignOut it is
// status 500, too. A sign-out may go on at the provider, which signedOut decides.
func (x *exchange) signOut(ctx context.Context) (*Response, error) {
	ended, err := x.setup.sessions.close(ctx, &x.visit)
	x.cookies.ClearChecks(x.now())
	x.cookies.EndHint()
	if err != nil {
		x.setup.log.Error(ctx, x, failure.Wrap(ErrSignOut, err), "alert", true)
		if *x.setup.config.Security.StrictSignOut {
			res := errorPage(ctx, x, "Configuration")
			res.Status = http.StatusInternalServerError
			return res, nil
		}
		return &Response{Redirect: x.callbackURL}, nil
	}
	x.setup.log.Info(ctx, x, "signed out")
	x.setup.log.Count(ctx, telemetry.Measure{Kind: telemetry.SessionsEnded, Value: "sign_out"})
	if p := x.setup.providers[ended.provider]; p != nil && p.info().signedOut != nil {
		if res, err := p.info().signedOut(ctx, x, ended); res != nil || err != nil {
			return res, err
		}
	}
	return &Response{Redirect: x.callbackURL}, nil
}
