// Package connectauth authenticates and authorizes the callers of Connect services with
// Latchkey.
//
//	auth, err := latchkey.New(latchkey.Config{…})
//	…
//	sessions := connectauth.New(auth)
//	site := http.NewServeMux()
//	site.Handle("/auth/", auth)
//	site.Handle(notesv1connect.NewNotesServiceHandler(notes{},
//		connect.WithInterceptors(sessions.RequireSession())))
//
// Procedures find the session in their context, as handlers of net/http do:
//
//	s := latchkey.SessionFrom(ctx)
//
// It is read when it is first asked for, from the session cookie, or from
// Authorization: Bearer where SessionConfig.Bearer is on. A renewed cookie goes
// into the header of the answer: of unary calls always, of streams as long as
// nothing has been sent.
//
// Calls that are refused get CodeUnauthenticated or CodePermissionDenied, with a
// google.rpc.ErrorInfo that says why: reason NO_SESSION, PROOF_NEEDED or ACCESS_DENIED,
// domain latchkey. A fault, such as a store that is down, is CodeUnavailable.
//
// Connect handlers are handlers of net/http, so [latchkey.Auth.LoadSession] and
// the other middleware may stand in front as well; then the session is theirs.
package connectauth
