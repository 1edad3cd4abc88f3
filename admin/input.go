package admin

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/users"
)

// kind is what a field holds.
type kind int

const (
	text kind = iota
	flag
	instant
	number
)

// fields are the fields of a form or of a JSON body, by name.
type fields map[string]kind

// input is what was sent, as text: a flag is "true" or "false", an instant is RFC 3339 in
// UTC. A field that was left out is absent.
type input map[string]string

// wrong returns a [users.InputError] about the field with the given name; "" stands for
// the whole body.
func wrong(field, problem string) error { return &users.InputError{Field: field, Problem: problem} }

const longestValue = 4 << 10

// read reads the body of a request, a form or JSON. A field that is not among known or
// has another kind is an InputError that names it, and so is a field that a form has
// twice. In a form, an empty field counts as left out unless its kind is text. The CSRF
// token is not part of the input. With an error, read returns the other fields of a form:
// the page shows them again.
func (c *call) read(known fields) (input, error) {
	in := input{}
	if isJSON(c.r) {
		return in, in.readJSON(c.r.Body, known)
	}
	form, err := url.ParseQuery(string(c.r.Body))
	if err != nil {
		return in, wrong("", "the body is no form")
	}
	for _, name := range slices.Sorted(maps.Keys(form)) {
		err = cmp.Or(err, in.take(known, name, form[name]))
	}
	return in, err
}

// take adds a field of a form to in, but no CSRF token, and no empty field unless its kind
// is text. A field that is unknown, repeated or of another kind is an InputError.
func (in input) take(known fields, name string, values []string) error {
	k, is := known[name]
	switch {
	case name == "csrfToken" && len(values) == 1:
		return nil
	case !is:
		return wrong(name, "there is no such field")
	case len(values) > 1:
		return wrong(name, "it was sent twice")
	case values[0] == "" && k != text:
		return nil
	}
	return in.set(name, k, values[0])
}

// readJSON adds the members of a JSON object to in. A null counts as left out, and an
// empty body as an object without members. Of a repeated name it takes the last value.
// It stops at the first error, an InputError.
func (in input) readJSON(body []byte, known fields) error {
	members := map[string]json.RawMessage{}
	if len(body) == 0 {
		return nil
	}
	if err := json.Unmarshal(body, &members); err != nil || members == nil {
		return wrong("", "the body is no JSON object")
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		k, is := known[name]
		raw := members[name]
		if !is && name != "csrfToken" {
			return wrong(name, "there is no such field")
		}
		if name == "csrfToken" || string(raw) == "null" {
			continue
		}
		value := string(raw)
		switch k {
		case flag:
			if value != "true" && value != "false" {
				return wrong(name, "it is true or false")
			}
		case number:
		default:
			if json.Unmarshal(raw, &value) != nil {
				return wrong(name, "it is a string")
			}
		}
		if err := in.set(name, k, value); err != nil {
			return err
		}
	}
	return nil
}

// layouts are the forms of an instant: that of JSON and those of the inputs of browsers.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04", time.DateOnly}

// set checks that value is of the kind k and not too long, and adds it to in. It stores
// an instant in UTC as RFC 3339. A value that does not fit is an InputError, and is not
// added.
func (in input) set(name string, k kind, value string) error {
	if len(value) > longestValue {
		return wrong(name, "it is too long")
	}
	switch k {
	case flag:
		if value != "true" && value != "false" {
			return wrong(name, "it is true or false")
		}
	case number:
		if value == "" || strings.Trim(value, "0123456789") != "" || len(value) > 9 {
			return wrong(name, "it is a whole number")
		}
	case instant:
		for _, layout := range layouts {
			if at, err := time.Parse(layout, value); err == nil {
				in[name] = at.UTC().Format(time.RFC3339Nano)
				return nil
			}
		}
		return wrong(name, "it is a time, as in RFC 3339")
	}
	in[name] = value
	return nil
}

// at returns a field of the kind instant, or the zero time if it was left out.
func (in input) at(name string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, in[name])
	return t
}

// flag returns a field of the kind flag, or nil if it was left out.
func (in input) flag(name string) *bool {
	value, there := in[name]
	if !there {
		return nil
	}
	return new(value == "true")
}

// text returns the text of in for a field of any kind, or nil if the field was left out.
func (in input) text(name string) *string {
	if value, there := in[name]; there {
		return &value
	}
	return nil
}
