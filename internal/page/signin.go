package page

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// SignIn is the sign-in page.
type SignIn struct {
	CSRFToken   string
	CallbackURL string // where the browser ends up; empty: not sent
	Error       string // code from the query; empty: no message; unknown: the general one
	Email       string // fills in e-mail fields
	Host        string // named under the heading; empty: not shown

	// Tried is the form that the browser has just sent and that failed. Like As, it
	// must come from the browser's own request, not from the query.
	Tried Tried
	As    string // the signed-in user: an e-mail address or a name; empty: none

	Providers []Provider // in the order in which they are shown

	SignUpURL string // where an account is created; empty: not offered
	ForgotURL string // where a new password is asked for; empty: not offered
	Done      string // what has just been done: reset, recovery, address, kept; unknown: no message
	Over      string // why there is no session any more: expired, ended; unknown: no message

	Reference *Reference // of the failure; nil: not shown

	// FormOrigins are the origins, or whole URLs, to which a form may lead besides
	// the site itself and every https URL; see [Source]. What a policy cannot name is
	// left out.
	FormOrigins []string

	// Script is the URL of the passkey script; empty: none runs. It is let in
	// by a fresh nonce and may fetch from the site itself.
	Script string
}

// Tried is a form that was sent and failed. The zero value means no form: an
// error then belongs to the only form that it can be about, or else to the
// page.
type Tried struct {
	Provider string            // id of the form's provider
	Typed    map[string]string // what its fields held, by name; passwords are never shown
	Wait     time.Duration     // until it makes sense to try again; zero: at once
	Unusable bool              // what was typed is no e-mail address
	Unknown  bool              // no user has the passkey, and the browser may forget it
}

// The types of provider a sign-in page distinguishes. Any other is shown as a
// plain button.
const (
	OAuth       = "oauth"
	OIDC        = "oidc"
	Email       = "email"
	Credentials = "credentials"
	WebAuthn    = "webauthn"
)

// Provider is one way to sign in.
type Provider struct {
	ID     string
	Name   string // shown as it is; empty: the words for Type, or else ID
	Type   string
	Action string // where its form is posted: a path or an http(s) URL

	// Fields are the inputs of a form; nil: an e-mail address for the types
	// email and webauthn, nothing for the others.
	Fields []Field

	// SignsUp makes the form of a passkey offer a new passkey by name, on a site
	// that does not tell which users have one.
	SignsUp bool

	Icon  string // name of an embedded icon; empty: the one of ID, or Mark, or the initial of Name
	Mark  string // path data of 24 by 24 units; empty or anything else: none
	Brand string // CSS colour behind mark and initial; empty or invalid: chosen by ID
}

// Label returns the name of the provider, or its id if it has none.
func (p Provider) Label() string { return cmp.Or(p.Name, p.ID) }

// fields returns the inputs of the provider's form, or nil if it is a plain button.
func (p Provider) fields() []Field {
	switch {
	case p.Type == OAuth || p.Type == OIDC:
		return nil
	case p.Fields == nil && (p.Type == Email || p.Type == WebAuthn):
		return []Field{{Name: addressField, Type: "email", Required: p.Type == Email}}
	}
	return p.Fields
}

// Field is one input of a provider's form.
type Field struct {
	Name         string
	Label        string // empty: Name
	Type         string // an HTML input type; empty or unsuitable: text
	Placeholder  string
	Autocomplete string // empty: guessed from Type and Name
	Value        string // never shown for a password
	Required     bool
}

// SignIn renders the sign-in page, always with status 200.
func (r *Renderer) SignIn(v SignIn) (Page, error) {
	p := policy{formOrigins: v.FormOrigins}
	if v.Script != "" {
		p.nonce = nonce()
	}
	view := signInView{SignIn: v, Message: v.message(), Finished: finished(v.Done), Told: v.told(), Nonce: p.nonce, Site: r.look.name}
	view.Groups = view.group()
	view.Host = r.site(v.Host)
	return r.render("signin", http.StatusOK, view, p, v.Host)
}

type signInView struct {
	SignIn
	Site     string  // the theme's name, for the heading; empty: none
	Message  message // zero: none, or one of the forms shows it
	Finished string  // key of a text; empty: none
	Told     string  // the same
	Groups   []providerGroup
	Nonce    string
}

// finished returns the key of the text for what has just been done, or "" for an unknown
// code.
func finished(done string) string {
	switch done {
	case "reset":
		return "password.reset.done"
	case "recovery":
		return "lost.done"
	case "address":
		return "password.regain.done"
	case "kept":
		return "password.keep.done"
	}
	return ""
}

// told returns the key of the text that says why there is no session any more, or "". If
// there is an error, or the user is signed in again, it returns "".
func (v *SignIn) told() string {
	if (v.Over == "expired" || v.Over == "ended") && v.Error == "" && v.As == "" {
		return "signin.over." + v.Over
	}
	return ""
}

// message is the key of a text, and what fills its place.
type message struct{ Key, Value string }

// message returns the text for the failed attempt or else for the error code; zero:
// none.
func (v *SignIn) message() message {
	switch wait := v.Tried.Wait; {
	case v.Tried.Unusable:
		return message{Key: "signin.error.address"}
	case v.Tried.Unknown:
		return message{Key: "passkey.unknown"}
	case wait > time.Minute:
		return message{"signin.error.wait", strconv.Itoa(int((wait + time.Minute - 1) / time.Minute))}
	case wait > 0:
		return message{Key: "signin.error.wait.one"}
	}
	return message{Key: signInMessage(v.Error)}
}

// blamed returns the index in v.Providers of the one whose form the error is about. It
// returns -1 without an error, and if that form is not there or several may be meant.
func (v *SignIn) blamed() int {
	if v.Error == "" {
		return -1
	}
	if v.Tried.Provider != "" {
		return slices.IndexFunc(v.Providers, func(p Provider) bool { return p.ID == v.Tried.Provider })
	}
	about := map[string]string{"CredentialsSignin": Credentials, "EmailSignin": Email}[v.Error]
	found := -1
	for i, p := range v.Providers {
		if p.Type != about {
			continue
		}
		if found >= 0 {
			return -1 // either may be meant
		}
		found = i
	}
	return found
}

// signInMessage returns the key of the text for an error code. It is a switch,
// because the author of a link chooses the code, which must select nothing but
// these texts.
func signInMessage(code string) string {
	switch code {
	case "":
		return ""
	case "OAuthSignin", "OAuthCallbackError", "OAuthCreateAccount", "EmailCreateAccount", "Callback", "Signin":
		return "signin.error.again"
	case "OAuthAccountNotLinked":
		return "signin.error.notlinked"
	case "EmailSignin":
		return "signin.error.email"
	case "CredentialsSignin":
		return "signin.error.credentials"
	case "SessionRequired":
		return "signin.error.session"
	case "WebAuthnVerificationError":
		return "signin.error.passkey"
	case "SecondFactor":
		return "signin.error.factor"
	}
	return "signin.error.other"
}

// providerGroup is a run of plain buttons, or one form with fields. Groups are
// parted by "or" and keep the order in which the operator listed the providers.
type providerGroup struct {
	Rows  string // class of the rows that buttons share; empty: each has one of its own
	Items []providerForm
}

const (
	crowd     = 6  // how many buttons stand in two columns before the page gets wider
	shortName = 12 // characters of a name that fits into one of two columns
)

// rows returns the class of the rows that the buttons of a group share, or "" if each
// has a row of its own.
func (g *providerGroup) rows() string {
	isLong := func(f providerForm) bool { return utf8.RuneCountInString(f.Label()) > shortName }
	switch n := len(g.Items); {
	case n > crowd:
		return "many"
	case n > 2, n == 2 && !slices.ContainsFunc(g.Items, isLong):
		return "two"
	}
	return ""
}

// group returns the forms in groups. Providers that ask for the same address have one
// form, and each other provider has its own. If an error is about a form, that form
// shows the message, and group empties v.Message.
func (v *signInView) group() []providerGroup {
	var groups []providerGroup
	buttons, primary, blamed := false, true, v.blamed()
	together := sharing(v.Providers)
	for i, p := range v.Providers {
		var form providerForm
		switch {
		case !slices.Contains(together, i):
			form = newForm(i, p, &v.SignIn)
		case i == slices.Min(together):
			form = newSharedForm(i, together, &v.SignIn)
		default:
			continue
		}
		if len(form.Inputs) > 0 {
			form.Primary, primary = primary, false
			if blamed >= 0 && (i == blamed || slices.Contains(together, i) && slices.Contains(together, blamed)) {
				form.blame(v.Message, v.Providers[blamed].fields())
				v.Message = message{}
			}
		}
		if plain := len(form.Inputs) == 0; !plain || !buttons {
			groups = append(groups, providerGroup{})
			buttons = plain
		}
		last := &groups[len(groups)-1]
		last.Items = append(last.Items, form)
		last.Rows = last.rows()
	}
	return groups
}
