package latchkey

import (
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/wirejson"
)

// How users and sessions look in JSON: to browsers, and to the clients of
// Auth.js, which tell an absent member from null.

// MarshalJSON implements [json.Marshaler]. It writes user, expires, the members of Extra
// and, if Actor is not nil, act with the administrator's id as sub. It leaves out a zero
// User.
func (s Session) MarshalJSON() ([]byte, error) { return appendSession(nil, &s) }

// UnmarshalJSON reads what MarshalJSON writes: it sets User and Expires, puts other members,
// act included, into Extra, and empties all other fields. null, which the session route answers
// to a visitor without a session, is an error. With an error s may be filled in part.
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
			err = wirejson.AddExtra(&s.Extra, m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// UnmarshalJSON replaces u by what MarshalJSON writes. A name, email or image that is absent or
// no text becomes empty. null for the object is an error. An error may leave u filled in part.
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
			if err := wirejson.AddExtra(&u.Extra, m); err != nil {
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
	actingMembers      = []string{"user", "expires", jwtclaims.Actor}
	sessionUserMembers = []string{"name", "email", "image"}
)

// appendSession appends the JSON of s to b, and returns the longer slice.
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
	b = wirejson.AppendTime(b, s.Expires)
	members := sessionMembers
	if s.Actor != nil {
		members = actingMembers
		b = jsonscan.AppendText(append(b, `,"act":{"sub":`...), s.Actor.ID)
		b = append(b, '}')
	}
	b, err := wirejson.AppendExtra(b, s.Extra, members)
	return append(b, '}'), err
}

// isZero reports whether the session names no user at all.
func (u *SessionUser) isZero() bool {
	return u.Name == "" && u.Email == "" && u.Image == "" && u.Extra == nil
}

// setKnown gives a user without any member an empty Extra. So the user is not the zero
// SessionUser, which is left out of the JSON.
func (u *SessionUser) setKnown() {
	if u.isZero() {
		u.Extra = Claims{}
	}
}

// saidNull is for users that do not come from a token: empty fields are null.
var saidNull = jwtclaims.Said{Name: wirejson.Null, Email: wirejson.Null, Image: wirejson.Null}

// appendSessionUser appends the JSON of u to b, and returns the longer slice. said is
// what the session token says of empty fields; nil: they are null.
func appendSessionUser(b []byte, u *SessionUser, said *jwtclaims.Said) ([]byte, error) {
	if said == nil {
		said = &saidNull
	}
	b = append(b, '{')
	start := len(b)
	b = wirejson.AppendMember(b, start, "name", u.Name, said.Name)
	b = wirejson.AppendMember(b, start, "email", u.Email, said.Email)
	b = wirejson.AppendMember(b, start, "image", u.Image, said.Image)
	b, err := wirejson.AppendExtra(b, u.Extra, sessionUserMembers)
	return append(b, '}'), err
}
