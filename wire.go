package latchkey

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
)

// How users and sessions look in JSON: to browsers, and to the clients of
// Auth.js, which tell an absent member from null.

// claimed is what a session token said of a user, as raw JSON; nil: the claim
// is absent.
type claimed struct{ name, email, image []byte }

// MarshalJSON implements [json.Marshaler]; see [User] for the form.
func (u User) MarshalJSON() ([]byte, error) { return appendUser(nil, &u) }

// UnmarshalJSON reads what MarshalJSON writes.
func (u *User) UnmarshalJSON(data []byte) error {
	members, err := jsonscan.Members(data, nil)
	if err != nil {
		return errors.New("latchkey: user is not a JSON object")
	}
	*u = User{}
	for _, m := range members {
		switch string(m.Key) {
		case "id":
			u.ID, _ = m.Text()
		case "name":
			u.Name, _ = m.Text()
		case "email":
			u.Email, _ = m.Text()
		case "image":
			u.Image, _ = m.Text()
		case "emailVerified":
			text, _ := m.Text()
			u.EmailVerified, _ = time.Parse(time.RFC3339, text)
		default:
			if err := addExtra(&u.Extra, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// MarshalJSON implements [json.Marshaler]: user, expires, and the members of
// Extra. A zero User is left out.
func (s Session) MarshalJSON() ([]byte, error) { return appendSession(nil, &s) }

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Session) UnmarshalJSON(data []byte) error {
	members, err := jsonscan.Members(data, nil)
	if err != nil {
		return errors.New("latchkey: session is not a JSON object")
	}
	*s = Session{}
	for _, m := range members {
		switch string(m.Key) {
		case "user":
			err = s.User.UnmarshalJSON(m.Raw)
			s.User.setKnown()
		case "expires":
			text, _ := m.Text()
			s.Expires, err = time.Parse(time.RFC3339, text)
		default:
			err = addExtra(&s.Extra, m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func addExtra(extra *map[string]any, m jsonscan.Member) error {
	var v any
	if err := json.Unmarshal(m.Raw, &v); err != nil {
		return err
	}
	if *extra == nil {
		*extra = map[string]any{}
	}
	(*extra)[string(m.Key)] = v
	return nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (u *SessionUser) UnmarshalJSON(data []byte) error {
	members, err := jsonscan.Members(data, nil)
	if err != nil {
		return errors.New("latchkey: user is not a JSON object")
	}
	*u = SessionUser{}
	for _, m := range members {
		switch string(m.Key) {
		case "name":
			u.Name, _ = m.Text()
		case "email":
			u.Email, _ = m.Text()
		case "image":
			u.Image, _ = m.Text()
		default:
			if err := addExtra((*map[string]any)(&u.Extra), m); err != nil {
				return err
			}
		}
	}
	return nil
}

// MarshalJSON implements [json.Marshaler]; see [SessionUser] for the form.
func (u SessionUser) MarshalJSON() ([]byte, error) { return appendSessionUser(nil, &u, nil) }

// The members that Extra may not override.
var (
	sessionMembers     = []string{"user", "expires"}
	sessionUserMembers = []string{"name", "email", "image"}
	userMembers        = []string{"id", "name", "email", "image", "emailVerified"}
)

func appendSession(b []byte, s *Session) ([]byte, error) {
	b = append(b, '{')
	if !s.User.isZero() {
		var err error
		if b, err = appendSessionUser(append(b, `"user":`...), &s.User, s.said); err != nil {
			return nil, err
		}
		b = append(b, ',')
	}
	b = append(b, `"expires":`...)
	b = appendTime(b, s.Expires)
	b, err := appendExtra(b, s.Extra, sessionMembers)
	return append(b, '}'), err
}

// isZero reports whether the session names no user at all.
func (u *SessionUser) isZero() bool {
	return u.Name == "" && u.Email == "" && u.Image == "" && u.Extra == nil
}

// setKnown tells a user of whom nothing is known from the zero SessionUser.
func (u *SessionUser) setKnown() {
	if u.isZero() {
		u.Extra = Claims{}
	}
}

// appendSessionUser writes u. said is what the session token says of empty
// fields; nil: they are null.
func appendSessionUser(b []byte, u *SessionUser, said *claimed) ([]byte, error) {
	if said == nil {
		said = &nothingClaimed
	}
	b = append(b, '{')
	start := len(b)
	b = appendMember(b, start, "name", u.Name, said.name)
	b = appendMember(b, start, "email", u.Email, said.email)
	b = appendMember(b, start, "image", u.Image, said.image)
	b, err := appendExtra(b, u.Extra, sessionUserMembers)
	return append(b, '}'), err
}

func appendUser(b []byte, u *User) ([]byte, error) {
	b = append(b, '{')
	start := len(b)
	if u.ID != "" {
		b = append(b, `"id":`...)
		b = jsonscan.AppendText(b, u.ID)
	}
	b = appendMember(b, start, "name", u.Name, null)
	b = appendMember(b, start, "email", u.Email, null)
	b = appendMember(b, start, "image", u.Image, null)
	if !u.EmailVerified.IsZero() {
		b = append(appendComma(b, start), `"emailVerified":`...)
		b = appendTime(b, u.EmailVerified)
	}
	b, err := appendExtra(b, u.Extra, userMembers)
	return append(b, '}'), err
}

// nothingClaimed is for users that do not come from a token: empty is null.
var nothingClaimed = claimed{null, null, null}

var null = []byte("null")

// appendMember writes text, or, where that is empty, what the token said.
func appendMember(b []byte, start int, name, text string, said []byte) []byte {
	if text == "" && said == nil {
		return b
	}
	b = append(appendComma(b, start), '"')
	b = append(append(b, name...), `":`...)
	switch {
	case text != "":
		return jsonscan.AppendText(b, text)
	case said[0] == '"' && len(said) > 2: // it was text, and the application has emptied it since
		return append(b, null...)
	}
	return append(b, said...)
}

func appendComma(b []byte, start int) []byte {
	if len(b) > start {
		return append(b, ',')
	}
	return b
}

// appendTime writes t as JavaScript writes a Date.
func appendTime(b []byte, t time.Time) []byte {
	t = t.UTC()
	b = t.AppendFormat(append(b, '"'), time.RFC3339) // which package time writes without reading the layout
	ms := t.Nanosecond() / int(time.Millisecond)
	return append(b[:len(b)-len("Z")], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z', '"')
}

// appendExtra writes the members of extra, in order of name, after others.
func appendExtra(b []byte, extra map[string]any, reserved []string) ([]byte, error) {
	if len(extra) == 0 {
		return b, nil
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if slices.Contains(reserved, name) {
			continue
		}
		value, err := json.Marshal(extra[name])
		if err != nil {
			return nil, errors.New("latchkey: member " + name + " cannot be written as JSON")
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(jsonscan.AppendText(b, name), ':')
		b = append(b, value...)
	}
	return b, nil
}
