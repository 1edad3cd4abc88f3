package providers

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers/profile"
)

// fields says which members of a profile make a person. subject is an expression of
// [mapping.pathID]; name, email and image are expressions of [mapping.path].
type fields struct {
	subject, name, email, image string

	trust    latchkey.EmailTrust
	verified string // path of the flag for a proven e-mail; empty: the field trust counts
	noImage  bool   // see latchkey.Identity.WithoutImage
}

// identify is an Identify function. It returns an error if the subject is neither text nor a
// number, or if the name, e-mail or image is not text. An absent member becomes "".
func (f fields) identify(g latchkey.Grant) (latchkey.Identity, error) {
	m := mapping{from: g.Profile}
	if f.verified != "" {
		f.trust = trust(at(map[string]any(g.Profile), f.verified))
	}
	return m.identity(latchkey.Identity{
		Subject:      m.pathID(f.subject),
		Name:         m.path(f.name),
		Email:        m.path(f.email),
		Image:        m.path(f.image),
		EmailTrust:   f.trust,
		WithoutImage: f.noImage,
	})
}

// mapping reads a profile for an Identify function. Of several names the first
// counts whose value is present and not null, an empty text included. A value
// of another type than expected is an error that names the field: a guess would
// be stored as a user's name or e-mail.
type mapping struct {
	from latchkey.Claims
	err  error
}

// text returns the first of the members with these names that is present and not null, or "".
// If that member is not text, text records a fault and returns "".
func (m *mapping) text(names ...string) string {
	name, value := m.first(names)
	text, ok := value.(string)
	if !ok && value != nil {
		m.fault(name, value)
	}
	return text
}

// path returns the text that an expression names, or "". Dots lead into objects and lists
// ("user.emails.0"). "a|b" is the first member that is present and not null. "a+b" joins the
// members that are not empty by a space. "a||b" is the first part that is not empty. || binds
// least, and | most. For a member that is not text, path records a fault and takes it as
// empty.
func (m *mapping) path(expression string) string {
	if expression == "" {
		return ""
	}
	for choice := range strings.SplitSeq(expression, "||") {
		var parts []string
		for part := range strings.SplitSeq(choice, "+") {
			name, value := m.firstAt(strings.Split(part, "|"))
			text, ok := value.(string)
			if !ok && value != nil {
				m.fault(name, value)
			}
			if text != "" {
				parts = append(parts, text)
			}
		}
		if len(parts) > 0 {
			return strings.Join(parts, " ")
		}
	}
	return ""
}

// id returns the first of the members with these names that is present and not null, or "". A
// number becomes text. For another type id records a fault and returns "".
func (m *mapping) id(names ...string) string {
	name, value := m.first(names)
	return m.idOf(name, value)
}

// pathID reads an identifier as id does, from the first of the paths with | between them.
func (m *mapping) pathID(expression string) string {
	name, value := m.firstAt(strings.Split(expression, "|"))
	return m.idOf(name, value)
}

// idOf returns value as an identifier. It records a fault for another type than text or a
// number.
func (m *mapping) idOf(name string, value any) string {
	id := latchkey.Claims{name: value}.String(name)
	if id == "" && value != nil && value != "" {
		m.fault(name, value)
	}
	return id
}

// first returns name and value of the first member that is present and not null; nil: none.
func (m *mapping) first(names []string) (name string, value any) {
	for _, name = range names {
		if value = m.from[name]; value != nil {
			return name, value
		}
	}
	return name, nil
}

// firstAt returns the first value at one of the paths that is present and not null, with its
// path, or a nil value.
func (m *mapping) firstAt(paths []string) (path string, value any) {
	for _, path = range paths {
		if value = at(map[string]any(m.from), path); value != nil {
			return path, value
		}
	}
	return path, nil
}

// at returns the value at the end of a path, such as "user.emails.0", or nil.
func at(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch inside := value.(type) {
		case map[string]any:
			value = inside[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(inside) {
				return nil
			}
			value = inside[i]
		default:
			return nil
		}
	}
	return value
}

// fault records that a member has the wrong type. The first fault counts.
func (m *mapping) fault(name string, value any) {
	if m.err == nil {
		m.err = fmt.Errorf("providers: %q in the profile holds a %T", name, value)
	}
}

// identity returns who, or the first fault that was recorded while its fields were read.
func (m *mapping) identity(who latchkey.Identity) (latchkey.Identity, error) {
	if m.err != nil {
		return latchkey.Identity{}, m.err
	}
	return who, nil
}

// member returns the object at the end of path, or nil if there is none.
func member(c latchkey.Claims, path ...string) latchkey.Claims {
	inner, _ := at(map[string]any(c), strings.Join(path, ".")).(map[string]any)
	return inner
}

// isTrue reports whether value is true, 1, "true" or "1", as [profile.Flag] reads them.
func isTrue(value any) bool {
	var flag profile.Flag
	raw, err := json.Marshal(value)
	return err == nil && json.Unmarshal(raw, &flag) == nil && bool(flag)
}

// trust returns EmailProven if the flag is set, else EmailUnproven.
func trust(verified any) latchkey.EmailTrust {
	if isTrue(verified) {
		return latchkey.EmailProven
	}
	return latchkey.EmailUnproven
}
