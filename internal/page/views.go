package page

import (
	"net/http"
)

// SignedIn tells a user that the sign-in is complete already. It is for a user who has gone
// back to a step of that sign-in.
type SignedIn struct {
	As          string // an e-mail or a name; empty: not named
	Host        string // named on the way on
	ContinueURL string // where it goes on
	SignOutURL  string // the sign-out page
}

// SignedIn renders the page for a user that is signed in already.
func (r *Renderer) SignedIn(v SignedIn) (Page, error) {
	v.Host = r.site(v.Host)
	return r.render("signedin", http.StatusOK, v, policy{}, v.Host)
}

// SignOut asks whether the user wants to sign out.
type SignOut struct {
	CSRFToken   string
	CallbackURL string // where the browser ends up; empty: not sent
	Action      string // where the form is posted
	CancelURL   string // for a user who wants to stay; empty: not offered
	Host        string // of the site

	FormOrigins []string // as in [SignIn]
}

// SignOut renders the sign-out page.
func (r *Renderer) SignOut(v SignOut) (Page, error) {
	return r.render("signout", http.StatusOK, v, policy{formOrigins: v.FormOrigins}, v.Host)
}

// SignedOut answers a sign-out of a browser that is not signed in.
type SignedOut struct {
	Host      string // text of the link home
	Origin    string // its URL
	SignInURL string // the sign-in page
}

// SignedOut renders the page for a browser that is not signed in.
func (r *Renderer) SignedOut(v SignedOut) (Page, error) {
	v.Host = r.site(v.Host)
	return r.render("signedout", http.StatusOK, v, policy{}, v.Host)
}

// VerifyRequest says that a magic link is on its way.
type VerifyRequest struct {
	Host   string // text of the link home
	Origin string // its URL

	// Email is the address to which the link went. It must come from the browser's
	// own request, not from the query. If it is empty, the page offers no other mail.
	Email       string
	Again       bool   // this is not the first link
	About       string // "signup" and "reset" are about a password, "move" about another address: no other mail is offered; empty: a magic link
	CSRFToken   string // of the form that has another one sent
	CallbackURL string // where the browser ends up; empty: not sent
	Action      string // where the form is posted
	SignInURL   string // where another address can be typed

	// CodeAction is where the code of the mail is posted, with CSRFToken. If it is
	// empty, the page has no field for a code.
	CodeAction string
	CodeDigits int
	CodeWrong  bool // the code that was typed before did not fit

	FormOrigins []string // as in [SignIn]
}

// CodeLength returns how many characters the field for the code takes: twice the digits,
// because spaces between them do no harm.
func (v VerifyRequest) CodeLength() int { return 2 * v.CodeDigits }

// Sent returns the key of the text that says what was sent.
func (v VerifyRequest) Sent() string {
	if v.About == "reset" || v.About == "move" {
		return "password.sent." + v.About
	}
	return "password.sent"
}

// Lead returns the key of the text of a page that does not know the address.
func (v VerifyRequest) Lead() string {
	if v.About == "move" {
		return "password.address.text"
	}
	return "verify.text"
}

// VerifyRequest renders the verify-request page.
func (r *Renderer) VerifyRequest(v VerifyRequest) (Page, error) {
	v.Host = r.site(v.Host)
	return r.render("verify", http.StatusOK, v, policy{formOrigins: v.FormOrigins}, v.Host)
}

// Hidden is a value that a form sends unseen.
type Hidden struct{ Name, Value string }

// Confirm asks a user that followed a magic link to press a button, so that programs
// that open every link in a mail do not use it up.
type Confirm struct {
	CSRFToken string
	Action    string   // where the form is posted; it may carry the query of the link
	Hidden    []Hidden // what else the form sends, such as the token of the link
	Email     string   // of the user who is about to sign in; empty: not named
	Host      string   // of the site

	// AtOnce makes a script press the button. The page is then needed only because
	// the request has to come from the site itself.
	AtOnce bool

	FormOrigins []string // as in [SignIn]
}

// Confirm renders the confirmation page. Its URL holds the secret of the link,
// so it sends no referrer and makes no request to another site, not even for a
// logo.
func (r *Renderer) Confirm(v Confirm) (Page, error) {
	page, err := r.render("confirm", http.StatusOK, v, policy{secluded: true, formOrigins: v.FormOrigins, atOnce: v.AtOnce}, v.Host)
	page.Referrer = noReferrer
	return page, err
}

// Invite shows an invitation to the user of the invited address.
type Invite struct {
	CSRFToken string
	Action    string   // where the form is posted
	Hidden    []Hidden // what else the form sends, such as the token of the invitation
	Email     string   // the address that is invited
	Host      string   // of the site
	Origin    string   // its URL

	As         string // the user who is signed in, and is another one; empty: signed out
	SignOutURL string // where that user signs out
	Gone       bool   // there is no such invitation any more

	FormOrigins []string
}

// Invite renders the page of an invitation. Its status is 410 if v.Gone. Its URL holds
// the secret of the invitation, so it sends no referrer and makes no request to another
// site, not even for a logo.
func (r *Renderer) Invite(v Invite) (Page, error) {
	v.Host = r.site(v.Host)
	status := http.StatusOK
	if v.Gone {
		status = http.StatusGone
	}
	page, err := r.render("invite", status, v, policy{secluded: true, formOrigins: v.FormOrigins}, v.Host)
	page.Referrer = noReferrer
	return page, err
}
