package page

import (
	"net/http"
	"slices"
	"strconv"
)

// PasswordStep is what a page about passwords and addresses asks for.
type PasswordStep string

// The steps.
const (
	SignUpStep  PasswordStep = "signup"  // an address and a password
	ForgotStep  PasswordStep = "forgot"  // an address
	VerifyStep  PasswordStep = "verify"  // a button; in another browser a password
	ResetStep   PasswordStep = "reset"   // a new password, by a link
	ChangeStep  PasswordStep = "change"  // the current password and a new one
	AddressStep PasswordStep = "address" // a new address
	MoveStep    PasswordStep = "move"    // a button that confirms the new address
	UndoStep    PasswordStep = "undo"    // a button that takes the former address back
	RegainStep  PasswordStep = "regain"  // a button that makes a new address that of a user who has lost the mailbox
	KeepStep    PasswordStep = "keep"    // a button that keeps the former address of that user
	OfferStep   PasswordStep = "offer"   // a passkey, after a sign-in by password: see [Offer]
)

var passwordSteps = []PasswordStep{SignUpStep, ForgotStep, VerifyStep, ResetStep, ChangeStep, AddressStep, MoveStep, UndoStep, RegainStep, KeepStep}

// hasSecret reports whether the URL of the page holds the secret of a link.
func (s PasswordStep) hasSecret() bool {
	return s == VerifyStep || s == ResetStep || s == MoveStep || s.IsOfAddress()
}

// IsOfAddress reports whether the page is for a link of a mail that changes, restores or
// keeps an e-mail address, and that works without a session.
func (s PasswordStep) IsOfAddress() bool {
	return s == UndoStep || s == RegainStep || s == KeepStep
}

// submit returns the key of the text on the button.
func (s PasswordStep) submit() string {
	switch s {
	case ForgotStep, AddressStep:
		return "password.forgot.submit"
	case ResetStep, ChangeStep:
		return "password.reset.submit"
	case VerifyStep:
		return "password.signup.heading"
	case MoveStep, RegainStep:
		return "password.address.heading"
	}
	return "password." + string(s) + ".heading"
}

// Password is a page on which a user signs up, chooses a password, or changes the
// password or the address.
type Password struct {
	Step      PasswordStep
	CSRFToken string
	Action    string   // where the form is posted
	Hidden    []Hidden // what else the form sends, such as the token of the link
	Host      string   // of the site

	Email       string  // whose password it is, or what was typed; empty: not known
	Fields      []Field // of a sign-up, besides the address and the password
	MinLength   int     // of a new password
	Code        bool    // the second factor is asked for
	Current     bool    // the current password is asked for
	New         bool    // VerifyStep asks for a new password
	Invited     bool    // because the user was invited
	Same        bool    // MoveStep proves the address that the user has
	Error       string  // the code of what is wrong with what was typed; empty: nothing; unknown: the general message
	CancelURL   string  // back to the settings; empty: not offered
	SignInURL   string  // the sign-in page; empty: not offered
	FormOrigins []string
}

// Password renders a page about passwords. Its status is 422 if v.Error is set. An
// unknown step, OfferStep included, becomes ForgotStep. If the URL of the page holds the
// secret of a link, the page sends no referrer and makes no request to another site.
func (r *Renderer) Password(v Password) (Page, error) {
	status := http.StatusOK
	if v.Error != "" {
		status = http.StatusUnprocessableEntity
	}
	if !v.Step.isKnown() {
		v.Step = ForgotStep
	}
	view := passwordView{Password: v, Submit: v.Step.submit(), Inputs: v.inputs()}
	if v.provesOwn() {
		view.Submit = "mail.verify.action"
	}
	page, err := r.renderAs("password."+string(view.Step)+".heading", "password", status, view, policy{secluded: v.Step.hasSecret(), formOrigins: v.FormOrigins}, v.Host)
	if v.Step.hasSecret() {
		page.Referrer = noReferrer
	}
	return page, err
}

// isKnown reports whether Password renders the step, which it does not for OfferStep.
func (s PasswordStep) isKnown() bool {
	for _, known := range passwordSteps {
		if s == known {
			return true
		}
	}
	return false
}

type passwordView struct {
	Password
	Submit string
	Inputs []input
}

// Heading returns the key of the heading.
func (v passwordView) Heading() string {
	if v.provesOwn() {
		return "password.verify.heading"
	}
	return "password." + string(v.Step) + ".heading"
}

// provesOwn reports whether the page confirms the address that its user has.
func (v *Password) provesOwn() bool { return v.Step == MoveStep && v.Same }

// Lead returns the key of the text below the heading.
func (v passwordView) Lead() string {
	switch {
	case v.Step == VerifyStep && v.Invited:
		return "invite.as"
	case v.Step == VerifyStep && v.New:
		return "password.verify.elsewhere"
	case v.provesOwn():
		return "password.verify.text"
	}
	return "password." + string(v.Step) + ".text"
}

// NamesEmail reports whether the text of Lead has a place for the address.
func (v passwordView) NamesEmail() bool {
	return v.Step.hasSecret() && (v.Invited || !(v.Step == VerifyStep && v.New))
}

// Saves reports whether the page names the account, so that password managers keep the
// new password for it.
func (v passwordView) Saves() bool { return v.Email != "" && v.asksForNew() && v.Step != SignUpStep }

// asksForNew reports whether the page has a field for a new password.
func (v *Password) asksForNew() bool {
	return v.Step == SignUpStep || v.Step == ResetStep || v.Step == ChangeStep || v.Step == VerifyStep && v.New
}

// inputs returns the fields of the form. The first that is wrong gets the focus.
func (v *Password) inputs() (all []input) {
	add := func(f Field, labelKey string, wrong message, hint bool) {
		in := newInput(0, len(all), f, "", "")
		if labelKey != "" {
			in.Label, in.LabelKey = "", labelKey
		}
		if wrong.Key != "" {
			in.Wrong, in.WrongID = wrong, in.ElementID+"-wrong"
		} else if hint {
			in.Hint, in.HintID = message{"password.hint", strconv.Itoa(v.MinLength)}, in.ElementID+"-hint"
		}
		all = append(all, in)
	}
	wrong, about := v.wrong()
	for _, f := range v.Fields {
		add(f, "", message{}, false)
	}
	only := func(name string) message {
		if name == about {
			return wrong
		}
		return message{}
	}
	switch v.Step {
	case SignUpStep, ForgotStep:
		add(Field{Name: "email", Type: "email", Autocomplete: "username", Value: v.Email, Required: true}, "", only("email"), false)
	case AddressStep:
		add(Field{Name: "email", Type: "email", Autocomplete: "email", Required: true}, "password.address.new", only("email"), false)
	}
	if v.Current {
		add(Field{Name: "current", Type: "password", Autocomplete: "current-password", Required: true}, "password.current", only("current"), false)
	}
	if v.asksForNew() {
		label := "password.new"
		if v.Step == SignUpStep {
			label = ""
		}
		add(Field{Name: "password", Type: "password", Autocomplete: "new-password", Required: true}, label, only("password"), true)
	}
	if v.Code {
		add(Field{Name: "code", Type: "text", Autocomplete: "one-time-code", Required: true}, "factor.code", only("code"), false)
		if last := &all[len(all)-1]; last.WrongID == "" {
			last.Hint, last.HintID = message{Key: "factor.lead.totp"}, last.ElementID+"-hint"
		}
	}
	showAnyway(all, wrong)
	focusWrong(all)
	return all
}

// showAnyway puts the text for an error beside the last field, if the form does not have
// the field that the error is about.
func showAnyway(all []input, wrong message) {
	if wrong.Key == "" || len(all) == 0 || slices.ContainsFunc(all, func(in input) bool { return in.WrongID != "" }) {
		return
	}
	last := &all[len(all)-1]
	last.Wrong, last.WrongID, last.Hint, last.HintID = wrong, last.ElementID+"-wrong", message{}, ""
}

// focusWrong gives the focus to the first field that is wrong, if there is one.
func focusWrong(all []input) {
	if i := slices.IndexFunc(all, func(in input) bool { return in.WrongID != "" }); i >= 0 {
		all[i].Focus = true
	}
}

// wrong returns the text for the error of the page, and the name of the field that the
// error is about. Both are zero without an error. An unknown code is about the password;
// inputs shows it beside the last field of a form without one.
func (v *Password) wrong() (m message, field string) {
	switch v.Error {
	case "":
		return message{}, ""
	case "short":
		return message{"password.error.short", strconv.Itoa(v.MinLength)}, "password"
	case "long", "common", "context", "repeated", "breached", "control":
		return message{Key: "password.error." + v.Error}, "password"
	case "wrong":
		return message{Key: "password.error.wrong"}, "current"
	case "factor":
		return message{Key: "factor.wrong"}, "code"
	case "address":
		return message{Key: "signin.error.address"}, "email"
	}
	return message{Key: "account.error.other"}, "password"
}

// Offer offers a passkey to a user after a sign-in with a password.
type Offer struct {
	CSRFToken   string
	Provider    string // id of the passkey provider
	Action      string // where the passkey is posted
	CallbackURL string // where the browser goes in the end, with a passkey or without
	Host        string // of the site

	FormOrigins []string // as in [SignIn]
	Script      string   // as in [SignIn]
}

type offerView struct {
	Offer
	Nonce string
}

// Offer renders the page that offers a passkey. Its script creates one without asking,
// if the browser can.
func (r *Renderer) Offer(v Offer) (Page, error) {
	p := policy{formOrigins: v.FormOrigins, nonce: nonce()}
	return r.render("offer", http.StatusOK, offerView{v, p.nonce}, p, v.Host)
}
