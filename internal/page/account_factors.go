package page

import (
	"strconv"
	"time"
)

// SecondStep is the part of the account page with second factors. Without RemoveAction
// it is not shown.
type SecondStep struct {
	Apps     []App
	MailID   string           // what the form that removes mailed codes sends; empty: the user has not chosen them
	Browsers []TrustedBrowser // that are not asked

	AddAction      string // where the form that sets up an app is posted; empty: apps are not offered
	MailAction     string // where the form that chooses mailed codes is posted; empty: they are not offered, or are chosen already
	RemoveAction   string // where a removal form is posted; it sends factor
	RecoveryAction string // where the form for new recovery codes is posted; empty: there are none
	ForgetAction   string // where a form is posted that forgets a browser; it sends browser
	StopAction     string // where the form is posted that keeps the factors, which were reported as lost; empty: they were not
}

// App is an authenticator app of the user.
type App struct {
	ID      string    // what the form sends
	Name    string    // empty: the word for an app
	Created time.Time // zero: not shown
}

// TrustedBrowser is a browser that is not asked for a second factor.
type TrustedBrowser struct {
	ID     string    // what the form sends
	Name   string    // as in [Device]
	System string    // as in [Device]
	Until  time.Time // when it is asked again
}

type secondStepView struct {
	SecondStep
	CSRFToken string
	Rows      []appRow
	Trusted   []browserRow
	Lost      message
}

type appRow struct {
	App
	CSRFToken, Action string
}

type browserRow struct {
	TrustedBrowser
	CSRFToken, Action string
}

// newSecondStepView returns the part of the account page with second factors, or nil if
// RemoveAction is empty. It numbers apps without a name from the second.
func (r *Renderer) newSecondStepView(v *Account) *secondStepView {
	s := v.SecondStep
	if s.RemoveAction == "" {
		return nil
	}
	view := &secondStepView{SecondStep: s, CSRFToken: v.CSRFToken, Lost: message{Key: "account.lost"}}
	for i, app := range s.Apps {
		if app.Name == "" {
			app.Name = r.texts.text("account.factor.totp")
			if i > 0 {
				app.Name += " " + strconv.Itoa(i+1)
			}
		}
		view.Rows = append(view.Rows, appRow{app, v.CSRFToken, s.RemoveAction})
	}
	if s.MailID != "" {
		view.Rows = append(view.Rows, appRow{App{ID: s.MailID, Name: r.texts.text("account.factor.email")}, v.CSRFToken, s.RemoveAction})
	}
	for _, b := range s.Browsers {
		b.Name = r.texts.device(Device{Name: b.Name, System: b.System})
		view.Trusted = append(view.Trusted, browserRow{b, v.CSRFToken, s.ForgetAction})
	}
	return view
}

// tellsTimes reports whether the part shows times.
func (s *SecondStep) tellsTimes() bool {
	for _, app := range s.Apps {
		if !app.Created.IsZero() {
			return true
		}
	}
	return len(s.Browsers) > 0
}
