package latchkey

import (
	"context"
	"net/http"
)

// signOut answers POST /signout. Whatever the store does, this browser is
// signed out; a session that could not be ended there is an error in the log.
func (v *visit) signOut(ctx context.Context) (*Response, error) {
	err := v.sessions.close(ctx, v)
	v.dropFlows()
	if err != nil {
		v.log.error(v, ErrSignOut.because(err), "alert", true)
		if v.StrictSignOut {
			res := v.errorPage("Configuration")
			res.Status = http.StatusInternalServerError
			return res, nil
		}
	} else {
		v.log.info(v, "signed out")
	}
	return &Response{Redirect: v.callbackURL}, nil
}
