package page

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/frame"
)

// Own is the part of the account page about the user: the profile, what happened lately,
// and the user's data. A part is not shown if its URL is empty.
type Own struct {
	ProfileURL  string // where name and picture are changed
	Name, Image bool   // which of them can be

	ActivityURL string      // where all of it is shown
	Activity    []Happening // the latest

	ExportURL string // where the user's data is downloaded
}

// Happening is one activity of the user.
type Happening struct {
	Type     string // of its event, such as password.changed; unknown: the general text
	Failed   bool
	Provider Provider  // zero: none
	Browser  string    // such as Firefox; empty: unknown
	System   string    // such as Linux; empty: unknown
	Time     time.Time // zero: not shown
	Support  bool      // an administrator did it
}

// fact is a row of the profile.
type fact struct {
	Label, Value, URL, Name string // Name is what the link does, for screen readers
}

// facts returns a row for each fact that the user can change, or nil without Own.ProfileURL.
func (r *Renderer) facts(v *Account) (rows []fact) {
	if v.Own.ProfileURL == "" {
		return nil
	}
	add := func(key, value, url string) {
		if value == "" {
			value = r.texts.text("profile.none")
		}
		label := r.texts.text(key)
		rows = append(rows, fact{label, value, url, r.texts.text("profile.change.name", label)})
	}
	if v.Own.Name {
		add("profile.name", v.Name, v.Own.ProfileURL)
	}
	if v.AddressURL != "" {
		add("signin.email", v.Email, v.AddressURL)
	}
	if v.Own.Image {
		host := ""
		if u, err := url.Parse(v.Image); err == nil {
			host = u.Host
		}
		add("profile.image", host, v.Own.ProfileURL)
	}
	return rows
}

// happenings returns a row of text for each activity, in order.
func (r *Renderer) happenings(list []Happening) (rows []frame.Row) {
	for _, h := range list {
		row := frame.Row{Name: r.texts.text("activity.other")}
		key := "activity." + strings.ReplaceAll(h.Type, "_", ".")
		switch {
		case h.Failed && r.texts.phrase(key+".failed").whole != "":
			row.Name = r.texts.text(key + ".failed")
		case r.texts.phrase(key).whole != "":
			row.Name = r.texts.text(key)
			if h.Failed {
				row.Tag = frame.Tag{Text: r.texts.text("activity.failed"), Kind: frame.Bad}
			}
		}
		if h.Support {
			row.Tag = frame.Tag{Text: r.texts.text("account.device.support")}
		}
		if h.Provider.ID != "" {
			row.Details = append(row.Details, frame.Detail{Text: r.texts.alone(h.Provider)})
		}
		at := frame.Detail{Text: "{time}", Time: h.Time}
		if h.Browser != "" || h.System != "" {
			at.Text += " · " + r.texts.device(Device{Name: h.Browser, System: h.System})
		}
		if !h.Time.IsZero() {
			row.Details = append(row.Details, at)
		}
		rows = append(rows, row)
	}
	return rows
}

// recent returns the latest activities as the template of a frame's rows needs them.
func (r *Renderer) recent(list []Happening) []frameRow {
	return (&frameView{}).section(frame.Part{Rows: r.happenings(list)}).Entries
}

// below returns a page with a heading and a link back to the account page, and nothing
// else. title is the key of the heading's text, and back is the URL of the link.
func (r *Renderer) below(back, title string) frame.Page {
	return frame.Page{Heading: r.texts.text(title), Back: frame.Link{Text: r.texts.text("account.heading"), URL: back}}
}

// Profile is the form in which users change their name and picture.
type Profile struct {
	CSRFToken string
	Action    string // where the form is posted; it sends each field, and what it was
	BackURL   string // the account page
	Host      string // of the site

	Name, Image *ProfileField // nil: it cannot be changed

	FormOrigins []string // as in [SignIn]
}

// webScheme is how the address of a picture begins.
const webScheme = "https://"

// ProfileField is a field of [Profile].
type ProfileField struct {
	Value string // as it is stored, or was typed
	Was   string // when the form was shown
	Wrong bool   // Value cannot be stored
}

// Profile renders the form. Its status is 422 if a field of v is Wrong.
func (r *Renderer) Profile(v Profile) (Page, error) {
	p := r.below(v.BackURL, "account.profile")
	f := frame.Form{Action: v.Action, Submit: r.texts.text("account.passkey.save")}
	for _, in := range []struct {
		*ProfileField
		frame.Field
	}{
		{v.Name, frame.Field{Name: "name", Label: r.texts.text("profile.name"), Autocomplete: "name"}},
		{v.Image, frame.Field{
			Name: "image", Type: "url", Label: r.texts.text("profile.image.label"), Hint: r.texts.text("profile.image.hint", webScheme), Autocomplete: "photo",
		}},
	} {
		if in.ProfileField == nil {
			continue
		}
		in.Field.Value = in.ProfileField.Value
		if in.Wrong {
			in.Error, p.Status = r.texts.text("profile."+in.Field.Name+".error", webScheme), http.StatusUnprocessableEntity
			p.Title = r.texts.text("profile.failed", p.Heading)
		}
		f.Fields = append(f.Fields, in.Field)
		f.Hidden = append(f.Hidden, frame.Value{Name: "was-" + in.Field.Name, Value: in.Was})
	}
	p.Parts = []frame.Part{{Forms: []frame.Form{f}}}
	return r.Frame(Frame{Page: p, CSRFToken: v.CSRFToken, Host: v.Host, FormOrigins: v.FormOrigins})
}

// Activity shows what happened to a user.
type Activity struct {
	BackURL string // the account page
	Host    string // of the site
	List    []Happening
}

// Activity renders the page with v.List. If that is empty, the page says so.
func (r *Renderer) Activity(v Activity) (Page, error) {
	p := r.below(v.BackURL, "account.activity")
	text := "account.activity.text"
	if len(v.List) == 0 {
		text = "account.activity.none"
	}
	p.Parts = []frame.Part{{Text: r.texts.text(text), Rows: r.happenings(v.List)}}
	return r.Frame(Frame{Page: p, Host: v.Host})
}

// Export offers users their data.
type Export struct {
	CSRFToken string
	Action    string // where the form is posted, which answers with a file
	BackURL   string // the account page
	Host      string // of the site
	Wait      bool   // it was downloaded too often

	FormOrigins []string // as in [SignIn]
}

// Export renders the page. With v.Wait its status is 429, and it has no form.
func (r *Renderer) Export(v Export) (Page, error) {
	p := r.below(v.BackURL, "account.export")
	part := frame.Part{Text: r.texts.text("account.export.text")}
	if v.Wait {
		p.Status, p.Problem = http.StatusTooManyRequests, r.texts.text("account.export.wait")
	} else {
		part.Forms = []frame.Form{{Action: v.Action, Submit: r.texts.text("account.export.submit")}}
	}
	p.Parts = []frame.Part{part}
	return r.Frame(Frame{Page: p, CSRFToken: v.CSRFToken, Host: v.Host, FormOrigins: v.FormOrigins})
}
