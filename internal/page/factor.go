package page

import (
	"html/template"
	"net/http"
	"strconv"
	"strings"
)

// Factor asks for the second factor of a sign-in.
type Factor struct {
	CSRFToken    string
	Action       string // where the form is posted; it sends use, code and remember
	CancelAction string // where the form that ends the sign-in is posted
	SendAction   string // where the form that has a code mailed is posted

	Use      string // totp, passkey, email or recovery
	Name     string // of the user who is about to sign in; empty: not named
	Host     string // of the site
	Wrong    bool   // the code before did not fit
	Sent     bool   // a code was mailed
	Remember int    // the days that the browser can be remembered for; 0: it cannot
	Others   []OtherFactor
	Provider string // id of the passkey provider, with Use passkey
	LostURL  string // where the user says that every factor is lost; empty: not offered

	FormOrigins []string // as in [SignIn]
	Script      string   // as in [SignIn]
}

// OtherFactor is a link to another kind of second factor.
type OtherFactor struct {
	Kind string // as in [Factor].Use
	URL  string
}

type factorView struct {
	Factor
	Lead  string // key of a text
	Days  string
	Nonce string
	Links []factorLink
}

type factorLink struct {
	URL string
	Key string // of the text
}

// Factor renders the page that asks for a second factor.
func (r *Renderer) Factor(v Factor) (Page, error) {
	p := policy{formOrigins: v.FormOrigins}
	if v.Script != "" {
		p.nonce = nonce()
	}
	view := factorView{Factor: v, Lead: "factor.lead." + factorKind(v.Use), Nonce: p.nonce}
	if v.Remember > 0 {
		view.Days = strconv.Itoa(v.Remember)
	}
	for _, o := range v.Others {
		view.Links = append(view.Links, factorLink{o.URL, "factor.use." + factorKind(o.Kind)})
	}
	return r.render("factor", http.StatusOK, view, p, v.Host)
}

// factorKind returns kind if there are texts for it, and "totp" otherwise.
func factorKind(kind string) string {
	switch kind {
	case "passkey", "email", "recovery":
		return kind
	}
	return "totp"
}

// Enrol has the user set up an authenticator app.
type Enrol struct {
	CSRFToken    string
	Action       string // where the form is posted; it sends code and name
	CancelAction string // where the form that gives up is posted; empty: CancelURL
	CancelURL    string // back to the settings; empty: CancelAction
	Name         string // of the user; empty: not named
	Host         string // of the site
	Required     bool   // the user cannot sign in without
	Wrong        bool   // the code before did not fit

	URI    string // opens an app on the same device
	Image  string // the same as a QR code: an SVG element of ours
	Secret string // for users who type it

	FormOrigins []string // as in [SignIn]
}

type enrolView struct {
	Enrol
	Picture template.HTML
	Link    template.URL // of a scheme that html/template does not let in
}

// Enrol renders the page that sets up an authenticator app. The page shows a secret, but
// its URL has none. v.Image is markup of ours, which is not escaped. An Image that is no
// svg element, and a URI of another scheme than otpauth, are left out.
func (r *Renderer) Enrol(v Enrol) (Page, error) {
	view := enrolView{Enrol: v}
	if strings.HasPrefix(v.Image, "<svg ") {
		view.Picture = template.HTML(v.Image)
	}
	if strings.HasPrefix(v.URI, "otpauth://") {
		view.Link = template.URL(v.URI)
	}
	return r.render("enrol", http.StatusOK, view, policy{formOrigins: v.FormOrigins}, v.Host)
}

// Codes shows new recovery codes.
type Codes struct {
	CSRFToken string
	Action    string // where the form is posted; it sends file for the codes as a file, and nothing when they are saved
	Codes     []string
	Host      string // of the site

	FormOrigins []string // as in [SignIn]
}

// Codes renders the page with new recovery codes.
func (r *Renderer) Codes(v Codes) (Page, error) {
	return r.render("codes", http.StatusOK, v, policy{formOrigins: v.FormOrigins}, v.Host)
}

// Remind tells a user that a second factor will be needed soon.
type Remind struct {
	Host        string // of the site
	EnrolURL    string // where it is set up
	ContinueURL string // where the sign-in goes on
}

// Remind renders the page that reminds a user of a second factor.
func (r *Renderer) Remind(v Remind) (Page, error) {
	return r.render("remind", http.StatusOK, v, policy{}, v.Host)
}

// LostStep is what a page about lost second factors asks for.
type LostStep string

// The steps.
const (
	LostAsk    LostStep = "lost"   // whether to begin
	LostStop   LostStep = "stop"   // whether to stop what was begun, by a link
	LostRemove LostStep = "remove" // whether to remove the factors, by a link
)

// IsKnown reports whether there is a page for the step.
func (s LostStep) IsKnown() bool { return s == LostAsk || s == LostStop || s == LostRemove }

// Lost is a page for a user without any second factor left.
type Lost struct {
	Step      LostStep
	Done      bool // it was answered: there is no form
	CSRFToken string
	Action    string // where the form is posted
	BackURL   string // the site
	Host      string // of the site
}

type lostView struct {
	Lost
	Heading, Lead, Submit string // keys of texts
}

// Lost renders a page about lost second factors. An unknown step means LostAsk. The URL
// of the page may hold the secret of a link, so the page sends no referrer and makes no
// request to another site.
func (r *Renderer) Lost(v Lost) (Page, error) {
	view := lostView{v, "lost.heading", "lost.text", "lost.submit"}
	switch {
	case v.Step == LostStop && v.Done:
		view.Heading, view.Lead = "lost.stop.heading", "lost.stopped"
	case v.Step == LostStop:
		view.Heading, view.Lead, view.Submit = "lost.stop.heading", "lost.stop.text", "mail.lost.action"
	case v.Step == LostRemove:
		view.Heading, view.Lead, view.Submit = "mail.ready.action", "lost.remove.text", "mail.ready.action"
	case v.Done:
		view.Lead = "lost.begun"
	}
	view.Host = r.site(v.Host)
	page, err := r.render("lost", http.StatusOK, view, policy{secluded: true}, v.Host)
	page.Referrer = noReferrer
	return page, err
}
