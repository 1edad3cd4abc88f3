package page

import (
	"net/http"
	"time"
)

// Error is the error page. It says no more than its code allows.
type Error struct {
	Code      string    // error type from the query; unknown ones give the general page
	Suspended bool      // AccessDenied because the user is suspended
	Until     time.Time // when the suspension ends; zero: not shown
	Host      string    // named on the way home
	Origin    string    // where that leads
	SignInURL string    // offered where signing in can help

	Reference *Reference // of the failure; nil: not shown
}

// Reference is the reference code of a failure, which a user can tell the operator.
type Reference struct {
	Code string
	Time time.Time // UTC
}

// Moment returns the time as operators write it.
func (r *Reference) Moment() string { return r.Time.UTC().Format("2006-01-02 15:04 UTC") }

// Error renders the error page: status 500 for Configuration, 403 for
// AccessDenied and Verification, 200 for anything else.
func (r *Renderer) Error(v Error) (Page, error) {
	view := errorView{Kind: "default", Host: r.site(v.Host), Origin: v.Origin, Reference: v.Reference}
	status := http.StatusOK
	switch v.Code {
	case "Configuration":
		view.Kind, status = "configuration", http.StatusInternalServerError
	case "AccessDenied":
		view.Kind, status = "denied", http.StatusForbidden
		view.Second, view.Contact = way{v.SignInURL, "error.signin"}, r.look.contact
		if v.Suspended {
			view.Kind, view.Until = "suspended", v.Until
		}
	case "Verification": // another link is asked for there
		view.Kind, status = "verification", http.StatusForbidden
		view.First = way{v.SignInURL, "error.signin"}
	}
	return r.render("error", status, view, policy{clock: !view.Until.IsZero()}, v.Host)
}

// Problem is the page that tells the user why a request was refused. Nothing
// in the request chooses its content.
type Problem struct {
	Kind      Kind
	As        string // the signed-in user: an e-mail address or a name; empty: not named
	Host      string // named on the way home
	Origin    string // where that leads
	SignInURL string // for another account; empty: not offered
	AgainURL  string // repeats the request; empty: not offered

	Reference *Reference // of the failure; nil: not shown
}

// Kind is the kind of a [Problem].
type Kind string

// The kinds, each with its status.
const (
	Forbidden Kind = "forbidden" // 403: signed in, and still not allowed
	Missing   Kind = "missing"   // 404: no such page
	Refused   Kind = "refused"   // 403: sent by another site
	Away      Kind = "away"      // 503: a service that is needed for the answer is down
)

// Problem renders the page of a problem, with the status of its kind. An unknown kind
// becomes Refused.
func (r *Renderer) Problem(v Problem) (Page, error) {
	view := errorView{Kind: string(v.Kind), As: v.As, Host: r.site(v.Host), Origin: v.Origin, Reference: v.Reference}
	status := http.StatusForbidden
	switch v.Kind {
	case Missing:
		status = http.StatusNotFound
	case Away:
		status = http.StatusServiceUnavailable
		view.First = way{v.AgainURL, "error.again"}
	case Forbidden, Refused:
	default:
		view.Kind = string(Refused)
	}
	if v.Kind == Forbidden {
		view.Second, view.Contact = way{v.SignInURL, "error.switch"}, r.look.contact
	}
	return r.render("error", status, view, policy{}, v.Host)
}

// errorView is an error as its template needs it. Its main button leads back to the
// request that has just failed only for Away.
type errorView struct {
	Kind         string // middle part of the keys of its texts
	As           string
	Until        time.Time // when a suspension ends; zero: not shown
	Contact      contact   // whom to ask; zero: not shown
	Host, Origin string    // the site's name and its URL
	First        way       // the main button; without one it leads home
	Second       way
	Reference    *Reference // nil: not shown
}

// way is a link: where to, and the key of its words.
type way struct{ URL, Text string }
