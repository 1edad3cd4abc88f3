package kvstore

import (
	"cmp"
	"encoding/json"

	"github.com/latchkeyhq/latchkey/storage"
)

// state is how far a user has come. The record of the user is the truth: a claim
// to an e-mail address counts only while its user says so.
type state string

const (
	stateWhole state = ""
	stateNew   state = "new"  // has not claimed the e-mail address yet
	stateGone  state = "gone" // no user any more; what is left is being removed
)

// userValue is the stored form of a user, in any state.
type userValue struct {
	ID       string          `json:"id"`
	Born     string          `json:"born"`
	State    state           `json:"state,omitempty"`
	Next     *nextValue      `json:"next,omitempty"`    // a change that waits for its e-mail address
	Settled  string          `json:"settled,omitempty"` // the latest such change that was completed
	Name     string          `json:"name,omitempty"`
	Email    string          `json:"email,omitempty"`
	Verified stamp           `json:"verified,omitzero"`
	Image    string          `json:"image,omitempty"`
	Extra    json.RawMessage `json:"extra,omitempty"`
}

// nextValue is a change of the e-mail address and of what changes with it, so
// that the call that completes it completes all of it.
type nextValue struct {
	ID       string  `json:"id"`
	Email    string  `json:"email"`
	Name     *string `json:"name,omitempty"`
	Verified *stamp  `json:"verified,omitempty"`
	Image    *string `json:"image,omitempty"`
}

// isWhole implements value. A user has an id and a Born, whatever the state.
func (v userValue) isWhole() bool { return v.ID != "" && v.Born != "" }

// owner returns the owner of the records that belong to the user.
func (v userValue) owner() owner { return owner{v.ID, v.Born} }

// names reports whether the user has the e-mail address or is about to have it.
func (v userValue) names(email string) bool {
	return v.State != stateGone && email != "" && (v.Email == email || v.Next != nil && v.Next.Email == email)
}

// user returns the stored user. It returns errJSON if Extra is no JSON.
func (v userValue) user() (storage.User, error) {
	u := storage.User{ID: v.ID, Name: v.Name, Email: v.Email, EmailVerified: v.Verified.Time, Image: v.Image}
	return u, opened(v.Extra, &u.Extra)
}

// with returns the user after the change n, with no change announced. It leaves v as it
// is.
func (v userValue) with(n nextValue) userValue {
	v.Email, v.Next = n.Email, nil
	v.Settled = cmp.Or(n.ID, v.Settled)
	set(&v.Name, n.Name)
	set(&v.Verified, n.Verified)
	set(&v.Image, n.Image)
	return v
}

// set copies *to into field, unless to is nil.
func set[T any](field, to *T) {
	if to != nil {
		*field = *to
	}
}

// storedUser is a user and the record that was read.
type storedUser struct {
	seen Record
	userValue
}

// owns returns nil if a record belongs to the user. It returns ErrNotFound if the record
// belongs to a user of another id, or to another user of the same id. A session names
// only the id, so it belongs to each user of the id.
func (u *storedUser) owns(r *Record) error {
	of, err := decode[owner](r)
	if err == nil && (of.User != u.ID || of.Born != "" && of.Born != u.Born) {
		err = storage.ErrNotFound
	}
	return err
}

// orZero returns the user if err is nil, and the zero User and err otherwise.
func (u *storedUser) orZero(err error) (storage.User, error) {
	if err != nil {
		return storage.User{}, err
	}
	return u.user()
}
