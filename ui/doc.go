// Package ui has the parts of pages that let people in and out, for html/template:
// a form for each provider, a sign-out button, a box with every way to sign in, and
// a user button. Module templui has the same for templ.
//
//	page, err := ui.New(auth, w, r) // before the body: it may set a cookie
//	…
//	{{.UI.SignIn "github" "redirectTo" "/shop"}}
//	{{if .UI.Session}}{{.UI.SignOut}}{{end}}
//	{{.UI.SignInBox}}
//	{{.UI.UserButton}}
//
// Everything is plain HTML that needs no script but for passkeys, has neither style
// nor script inside, so that a strict Content-Security-Policy lets it be, and speaks
// the visitor's language. How it looks is up to the page: every element has a class
// that begins with "latchkey-", and [Stylesheet] is a small style sheet to begin with.
//
// A [Page] belongs to one request; everything else may be used concurrently.
package ui
