// Package frame has the parts of a page in the style of the built-in pages:
// [Page], which latchkey.Auth.WritePage writes. Every text is escaped. A page has
// no script of the application's, no HTML and no style.
package frame

import "time"

// Page is a page in the built-in style. What is empty is not shown.
type Page struct {
	Status  int    // 0: 200
	Title   string // of the browser's tab, in front of the site's name
	Heading string
	Lead    string // below the heading
	Avatar  string // a name whose initials stand beside the heading
	Tag     Tag    // beside the heading
	Wide    bool   // for lists; false: as wide as the account page

	Back    Link   // above the heading
	Action  Link   // a button beside the heading
	Done    string // what has just been done
	Problem string // what went wrong

	Parts []Part
}

// Part is a part of a page, in the order of its fields.
type Part struct {
	Heading string // empty: the part goes on below the one before
	Text    string
	Alert   string // a text that stands out
	Search  *Form  // a form of one field, in one line
	Links   []Link // buttons in a line
	Rows    []Row
	Forms   []Form // buttons in a line; one with fields opens below
}

// Link leads to another page of the site.
type Link struct {
	Text    string
	URL     string
	Current bool // it is the page that is shown
}

// Tag is a word on a coloured ground. An empty Text is none.
type Tag struct {
	Text string
	Kind TagKind
}

// TagKind is the colour of a [Tag].
type TagKind string

// The kinds of [Tag]. The zero TagKind is neutral.
const (
	Good TagKind = "good"
	Bad  TagKind = "bad"
)

// Row is a row of a list.
type Row struct {
	Name    string
	URL     string // where Name leads
	Avatar  string // a name whose initials are shown
	Details []Detail
	Tag     Tag
	Forms   []Form
}

// Detail is a line of a [Row]. Time is shown in the place {time} of Text, in the
// reader's zone.
type Detail struct {
	Text string
	Time time.Time
}

// Form is a form that is posted to a page of the site. The CSRF token is added.
type Form struct {
	Action string
	Submit string // what its button says
	Label  string // what the button does to whom, for screen readers, with the words of Submit (WCAG 2.2, 2.5.3); empty: Submit says it
	Open   string // what opens a form with fields; empty: it is open
	Text   string // above the fields
	Danger bool   // it takes something away
	Cancel Link   // beside the button
	Hidden []Value
	Fields []Field
}

// Value is a value that a form sends unseen.
type Value struct{ Name, Value string }

// Field is a field of a [Form].
type Field struct {
	Name         string
	Label        string
	Type         string // of the input: text, email, url, date, checkbox and others; empty: text
	Value        string // what it has at first; of a checkbox: what it sends
	Hint         string
	Error        string // what is wrong with Value
	Required     bool
	Autocomplete string
	MaxLength    int // characters; 0: no bound
}
