package page

import (
	"cmp"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey/frame"
)

// Frame is a page of the application's own.
type Frame struct {
	frame.Page
	CSRFToken   string   // of its forms
	Host        string   // of the site
	FormOrigins []string // as in [SignIn]
}

// Frame renders a page of the application's own. Its status is v.Status, or 200 if that
// is zero.
func (r *Renderer) Frame(v Frame) (Page, error) {
	view := &frameView{Frame: v, Initials: initials(v.Avatar, "")}
	for _, p := range v.Parts {
		view.Sections = append(view.Sections, view.section(p))
	}
	return r.render("frame", cmp.Or(v.Status, http.StatusOK), view, policy{formOrigins: v.FormOrigins, clock: view.Clock}, v.Host)
}

type frameView struct {
	Frame
	Sections []frameSection
	Initials string
	Clock    bool // there are times to tell
	fields   int  // so far
}

// pageTitle returns the title of the page itself, or its heading if it has none.
func (v *frameView) pageTitle() string { return cmp.Or(v.Title, v.Heading) }

type frameSection struct {
	frame.Part
	SearchForm *frameForm
	Entries    []frameRow
	Buttons    []frameForm
}

type frameRow struct {
	frame.Row
	Initials string
	Lines    []frameLine
	Buttons  []frameForm
}

// frameLine is a line with a time between two texts.
type frameLine struct {
	frame.Detail
	Before, After string
}

type frameForm struct {
	frame.Form
	CSRFToken string
	Inputs    []frameInput
}

// Failed reports whether something is wrong with a field, so that the form is open.
func (f frameForm) Failed() bool {
	return slices.ContainsFunc(f.Fields, func(in frame.Field) bool { return in.Error != "" })
}

type frameInput struct {
	frame.Field
	ElementID, AboutID string
	Focus              bool
}

// section returns a part as its template needs it. It sets v.Clock if the part shows a
// time.
func (v *frameView) section(p frame.Part) frameSection {
	s := frameSection{Part: p, Buttons: v.forms(p.Forms)}
	if p.Search != nil {
		s.SearchForm = &v.forms([]frame.Form{*p.Search})[0]
	}
	for _, row := range p.Rows {
		entry := frameRow{Row: row, Initials: initials(row.Avatar, ""), Buttons: v.forms(row.Forms)}
		for _, d := range row.Details {
			line := frameLine{Detail: d}
			line.Before, line.After, _ = strings.Cut(d.Text, "{time}")
			v.Clock = v.Clock || !d.Time.IsZero()
			entry.Lines = append(entry.Lines, line)
		}
		s.Entries = append(s.Entries, entry)
	}
	return s
}

// forms returns forms as their template needs them, with field ids that are unique on
// the page.
func (v *frameView) forms(list []frame.Form) (out []frameForm) {
	for _, f := range list {
		form := frameForm{Form: f, CSRFToken: v.CSRFToken}
		for _, field := range f.Fields {
			v.fields++
			in := frameInput{Field: field, ElementID: "f" + strconv.Itoa(v.fields), Focus: field.Error != ""}
			in.Type = cmp.Or(in.Type, "text")
			if field.Error != "" || field.Hint != "" {
				in.AboutID = in.ElementID + "a"
			}
			form.Inputs = append(form.Inputs, in)
		}
		out = append(out, form)
	}
	return out
}

// titled is a view with a title of its own in place of a text of the library.
type titled interface{ pageTitle() string }

// ownTitle returns the title of a view that is titled, escaped, or "".
func ownTitle(view any) string {
	if v, has := view.(titled); has {
		return template.HTMLEscapeString(v.pageTitle())
	}
	return ""
}
