// Package latchkey signs people in to web applications.
//
// An [Auth] is an http.Handler for everything below /auth: sign-in pages,
// redirects to identity providers and back, sessions, sign-out. It speaks the
// wire contract of Auth.js v5 (routes, cookies, sealed tokens, database
// layout), so a Go server and a Node server can share users, sessions and
// browser clients.
//
//	auth, err := latchkey.New(latchkey.Config{
//		Providers: []latchkey.Provider{providers.GitHub(latchkey.OAuth{})},
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	http.Handle("/auth/", auth)
//	http.Handle("/", auth.RequireSession(http.HandlerFunc(home)))
//
// with AUTH_SECRET, AUTH_URL, AUTH_GITHUB_ID and AUTH_GITHUB_SECRET in the
// environment. In home, [SessionFrom] says who it is.
//
// # Where to read on
//
// [Config] is everything that can be chosen; its zero values are what most
// sites want. A provider is an [*OAuth], [*Email], [*Credentials], [*Password] or
// [*WebAuthn]: package providers has ready-made ones, and one written by hand is the
// same struct.
// [Callbacks] decide (who may come in, what a token and a session hold, where a
// browser is sent), [Events] tell what happened.
//
// Without a [storage.Adapter] a session lives in its cookie, encrypted. With one,
// users, accounts and sessions are rows; packages memoryadapter, sqladapter and
// module pgxadapter keep them. An adapter of your own imports package storage
// alone, and package latchkeytest/storagetest tests the adapter.
//
// Handlers use [Auth.LoadSession] or [Auth.RequireSession] in front and
// [SessionFrom] inside; [Auth.Authorize] makes a guard of a function of the
// application's, which may look at a role that [Callbacks].Session has put into
// [Session].Extra; [Auth.Middleware] serves the routes and loads the session for a whole
// site. [Auth.SignIn], [Auth.SignOut] and
// [Auth.UpdateSession] do from a handler what the browser does with a form.
// [Auth.Users] is for settings pages and jobs: accounts, devices, deletion;
// package users documents it. For
// frameworks without net/http, [Auth.Core] offers the same calls on a neutral [Request]
// and [Response]. Sites of several tenants start from [NewTenants].
//
// Errors have an [ErrorType], which is itself an error: errors.Is(err,
// latchkey.ErrAccessDenied).
package latchkey
