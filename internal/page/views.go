package page

import (
	"net/http"
	"time"
)

// SignOut asks whether the user wants to sign out.
type SignOut struct {
	CSRFToken   string
	CallbackURL string // where the browser ends up; empty: not sent
	Action      string // where the form is posted
}

// SignOut renders the sign-out page.
func (r *Renderer) SignOut(v SignOut) (Page, error) {
	return r.render("signout", http.StatusOK, v, policy{})
}

// VerifyRequest says that a magic link is on its way.
type VerifyRequest struct {
	Host   string // text of the link home
	Origin string // its URL
}

// VerifyRequest renders the verify-request page.
func (r *Renderer) VerifyRequest(v VerifyRequest) (Page, error) {
	return r.render("verify", http.StatusOK, v, policy{})
}

// Hidden is a value that a form sends unseen.
type Hidden struct{ Name, Value string }

// Confirm asks a user who followed a magic link to press a button, so that
// programs which merely open every link in a mail do not use it up.
type Confirm struct {
	CSRFToken string
	Action    string   // where the form is posted; it may carry the query of the link
	Hidden    []Hidden // what else the form sends, such as the token of the link
	Email     string   // who is about to sign in; empty: not named
}

// Confirm renders the confirmation page. Its URL holds the secret of the link,
// so it sends no referrer and asks nobody else for anything, not even for a
// logo that lives elsewhere.
func (r *Renderer) Confirm(v Confirm) (Page, error) {
	page, err := r.render("confirm", http.StatusOK, v, policy{secluded: true})
	page.Referrer = noReferrer
	return page, err
}

// Error says that something failed, and no more than its code allows.
type Error struct {
	Code      string // error type from the query; unknown ones give the general page
	Host      string // text of the link home
	Origin    string // its URL
	SignInURL string // offered where trying again can help
}

// Error renders the error page: status 500 for Configuration, 403 for
// AccessDenied and Verification, 200 for anything else.
func (r *Renderer) Error(v Error) (Page, error) {
	view := errorView{Error: v, Kind: "default"}
	status := http.StatusOK
	switch v.Code {
	case "Configuration":
		view.Kind, status = "configuration", http.StatusInternalServerError
	case "AccessDenied":
		view.Kind, status, view.Retry = "denied", http.StatusForbidden, true
	case "Verification":
		view.Kind, status, view.Retry = "verification", http.StatusForbidden, true
	}
	return r.render("error", status, view, policy{})
}

type errorView struct {
	Error
	Kind  string // middle part of the keys of its texts
	Retry bool   // a link to the sign-in page makes sense
}

// moment writes a time the same way in every language. Zone and clock of the
// browser are unknown, so it is UTC and says so.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// instant is the form of a time that machines read.
func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }
