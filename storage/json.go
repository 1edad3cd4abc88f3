package storage

import (
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/wirejson"
)

// MarshalJSON implements [json.Marshaler]; see [User] for the form.
func (u User) MarshalJSON() ([]byte, error) { return appendUser(nil, &u) }

// UnmarshalJSON reads what MarshalJSON writes, and replaces all fields of u. Numbers of
// Extra become [json.Number]. A member whose value has another type than its field leaves
// the field empty. UnmarshalJSON returns an error if data is no JSON object.
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
			if err := wirejson.AddExtra(&u.Extra, m); err != nil {
				return err
			}
		}
	}
	return nil
}

var userMembers = []string{"id", "name", "email", "image", "emailVerified"}

// appendUser appends the JSON of u to b: see [User] for its members. It fails only if a
// member of Extra cannot be encoded.
func appendUser(b []byte, u *User) ([]byte, error) {
	b = append(b, '{')
	start := len(b)
	if u.ID != "" {
		b = append(b, `"id":`...)
		b = jsonscan.AppendText(b, u.ID)
	}
	b = wirejson.AppendMember(b, start, "name", u.Name, wirejson.Null)
	b = wirejson.AppendMember(b, start, "email", u.Email, wirejson.Null)
	b = wirejson.AppendMember(b, start, "image", u.Image, wirejson.Null)
	if !u.EmailVerified.IsZero() {
		b = append(wirejson.AppendComma(b, start), `"emailVerified":`...)
		b = wirejson.AppendTime(b, u.EmailVerified)
	}
	b, err := wirejson.AppendExtra(b, u.Extra, userMembers)
	return append(b, '}'), err
}
