package providers

import (
	"fmt"

	"github.com/latchkeyhq/latchkey"
)

// mapping reads a profile for an Identify function. Of several names the first
// counts whose value is present and not null, an empty text included. A value
// of another type than expected is an error that names the field: a guess would
// be stored as somebody's name or e-mail.
type mapping struct {
	from latchkey.Claims
	err  error
}

// text reads a member that has to be text.
func (m *mapping) text(names ...string) string {
	name, value := m.first(names)
	text, ok := value.(string)
	if !ok && value != nil {
		m.fault(name, value)
	}
	return text
}

// id reads an identifier. Numbers become text, since some providers count their
// users.
func (m *mapping) id(names ...string) string {
	name, value := m.first(names)
	id := m.from.String(name)
	if id == "" && value != nil && value != "" {
		m.fault(name, value)
	}
	return id
}

func (m *mapping) first(names []string) (name string, value any) {
	for _, name = range names {
		if value = m.from[name]; value != nil {
			return name, value
		}
	}
	return name, nil
}

func (m *mapping) fault(name string, value any) {
	if m.err == nil {
		m.err = fmt.Errorf("providers: %q in the profile holds a %T", name, value)
	}
}

// identity returns who, unless a field that it was made from was faulty.
func (m *mapping) identity(who latchkey.Identity) (latchkey.Identity, error) {
	if m.err != nil {
		return latchkey.Identity{}, m.err
	}
	return who, nil
}

// member returns the object at the end of path; nil if there is none.
func member(c latchkey.Claims, path ...string) latchkey.Claims {
	for _, name := range path {
		inner, ok := c[name].(map[string]any)
		if !ok {
			return nil
		}
		c = inner
	}
	return c
}
