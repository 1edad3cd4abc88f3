package kvstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"

	"github.com/latchkeyhq/latchkey"
)

// state is how far a user has come. The record of the user is the truth: a claim
// to an e-mail address counts only while its user says so.
type state string

const (
	stateWhole state = ""
	stateNew   state = "new"  // has not claimed the e-mail address yet
	stateGone  state = "gone" // nobody any more; what is left is being removed
)

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
// that whoever completes it completes all of it.
type nextValue struct {
	ID       string  `json:"id"`
	Email    string  `json:"email"`
	Name     *string `json:"name,omitempty"`
	Verified *stamp  `json:"verified,omitempty"`
	Image    *string `json:"image,omitempty"`
}

func (v userValue) isWhole() bool { return v.ID != "" && v.Born != "" }

func (v userValue) owner() owner { return owner{v.ID, v.Born} }

// names tells whether the user has the e-mail address or is about to.
func (v userValue) names(email string) bool {
	return v.State != stateGone && email != "" && (v.Email == email || v.Next != nil && v.Next.Email == email)
}

func (v userValue) user() (latchkey.User, error) {
	u := latchkey.User{ID: v.ID, Name: v.Name, Email: v.Email, EmailVerified: v.Verified.Time, Image: v.Image}
	return u, opened(v.Extra, &u.Extra)
}

// with is the user after the change.
func (v userValue) with(n nextValue) userValue {
	v.Email, v.Next = n.Email, nil
	v.Settled = cmp.Or(n.ID, v.Settled)
	set(&v.Name, n.Name)
	set(&v.Verified, n.Verified)
	set(&v.Image, n.Image)
	return v
}

func set[T any](field, to *T) {
	if to != nil {
		*field = *to
	}
}

// person is a user and the record that says so.
type person struct {
	seen Record
	userValue
}

// CreateUser implements [latchkey.Adapter].
func (s *Store) CreateUser(ctx context.Context, u latchkey.User) (latchkey.User, error) {
	if u.ID == "" {
		u.ID = rand.Text()
	}
	extra, err := open(u.Extra)
	if err == nil && !isText(u.ID, u.Name, u.Email, u.Image) {
		err = errText
	}
	if err != nil {
		return latchkey.User{}, err
	}
	p := person{userValue: userValue{
		ID: u.ID, Born: rand.Text(), Name: u.Name, Email: u.Email, Verified: stampOf(u.EmailVerified), Image: u.Image, Extra: extra,
	}}
	if u.Email != "" {
		p.State = stateNew
	}
	if p.seen, err = s.beginUser(ctx, p.userValue); err == nil && p.State == stateNew {
		err = s.completeUser(ctx, p)
	}
	if err != nil {
		return latchkey.User{}, err
	}
	return p.user()
}

// beginUser writes a new user, over one that was begun under the same id and
// never completed.
func (s *Store) beginUser(ctx context.Context, v userValue) (Record, error) {
	seen := Record{Key: keyOfUser(v.ID)}
	for try := 0; ; try++ {
		written, err := s.write(ctx, seen, v, never)
		if !errors.Is(err, latchkey.ErrConflict) {
			return written, err
		}
		former, err := s.person(ctx, v.ID)
		switch {
		case err != nil && !errors.Is(err, latchkey.ErrNotFound):
			return written, err
		case former.State == stateGone:
			if err := s.finishDeletion(ctx, former); err != nil {
				return written, err
			}
			former.seen = Record{Key: seen.Key}
		case err == nil:
			return written, latchkey.ErrConflict
		}
		seen = former.seen
		if err := pause(ctx, try); err != nil {
			return written, err
		}
	}
}

// completeUser claims the e-mail address of a new user, who is whole then or
// was never there.
func (s *Store) completeUser(ctx context.Context, p person) error {
	switch err := s.claim(ctx, p.Email, p.owner()); {
	case errors.Is(err, latchkey.ErrConflict):
		_ = s.remove(ctx, p.seen) // what is left would be nobody
		return err
	case err != nil:
		return err
	}
	err := s.makeWhole(ctx, p)
	if !errors.Is(err, latchkey.ErrConflict) {
		return err
	}
	if now, err := s.person(ctx, p.ID); err == nil && now.Born == p.Born {
		return nil // somebody has helped
	}
	return err
}

// makeWhole is the last step of a new user, whoever takes it.
func (s *Store) makeWhole(ctx context.Context, p person) error {
	p.State = stateWhole
	_, err := s.rewrite(ctx, p.seen, p.userValue, never)
	return err
}

// person finds who has the id, gone or whole. Somebody new is helped if their
// claim counts, and is nobody otherwise; the record comes with ErrNotFound.
func (s *Store) person(ctx context.Context, id string) (p person, err error) {
	for try := 0; ; try++ {
		if p, err = s.lookUser(ctx, id); err != nil || p.State != stateNew {
			return p, err
		}
		claim, err := s.look(ctx, keyOfEmail(p.Email))
		if err != nil {
			return p, err
		}
		if !isClaimOf(&claim, p.owner()) {
			return p, latchkey.ErrNotFound
		}
		if err = s.makeWhole(ctx, p); err != nil && !errors.Is(err, latchkey.ErrConflict) {
			return p, err
		}
		if err := pause(ctx, try); err != nil {
			return p, err
		}
	}
}

// lookUser reads a user as stored.
func (s *Store) lookUser(ctx context.Context, id string) (person, error) {
	r, err := s.look(ctx, keyOfUser(id))
	if err != nil {
		return person{}, err
	}
	return asPerson(r, id)
}

var errOther = errors.New("kvstore: the record of a user is another's")

func asPerson(r Record, id string) (p person, err error) {
	p.seen = r
	if !r.isAlive() {
		return p, latchkey.ErrNotFound
	}
	p.userValue, err = decode[userValue](&r)
	if err == nil && p.ID != id {
		err = errOther
	}
	return p, err
}

// living is person for whoever is not gone.
func (s *Store) living(ctx context.Context, id string) (person, error) {
	p, err := s.person(ctx, id)
	if err == nil && p.State == stateGone {
		err = latchkey.ErrNotFound
	}
	return p, err
}

// bearer is living for who a record of an account or passkey belongs to.
func (s *Store) bearer(ctx context.Context, of owner) (person, error) {
	p, err := s.living(ctx, of.User)
	if err == nil && p.Born != of.Born {
		err = latchkey.ErrNotFound
	}
	return p, err
}

// GetUser implements [latchkey.Adapter].
func (s *Store) GetUser(ctx context.Context, id string) (latchkey.User, error) {
	p, err := s.living(ctx, id)
	return p.orNobody(err)
}

func (p *person) orNobody(err error) (latchkey.User, error) {
	if err != nil {
		return latchkey.User{}, err
	}
	return p.user()
}

// GetUserByEmail implements [latchkey.Adapter].
func (s *Store) GetUserByEmail(ctx context.Context, email string) (latchkey.User, error) {
	for try := 0; ; try++ {
		claim, err := s.find(ctx, keyOfEmail(email))
		if err != nil {
			return latchkey.User{}, err
		}
		of, err := decode[owner](&claim)
		if err != nil {
			return latchkey.User{}, err
		}
		p, err := s.bearer(ctx, of)
		if err != nil || p.Email == email {
			return p.orNobody(err)
		}
		if !p.names(email) {
			return latchkey.User{}, latchkey.ErrNotFound
		}
		if err := orMoved(s.settle(ctx, p)); err != nil && !errors.Is(err, errMoved) {
			return latchkey.User{}, err
		}
		if err := pause(ctx, try); err != nil {
			return latchkey.User{}, err
		}
	}
}

// UpdateUser implements [latchkey.Adapter].
func (s *Store) UpdateUser(ctx context.Context, id string, c latchkey.UserChange) (latchkey.User, error) {
	if c == (latchkey.UserChange{}) {
		return s.GetUser(ctx, id)
	}
	to, err := asNext(c)
	if err != nil {
		return latchkey.User{}, err
	}
	for try := 0; ; try++ {
		p, err := s.living(ctx, id)
		if err != nil || try > 0 && p.Settled == to.ID { // somebody has helped
			return p.orNobody(err)
		}
		if c.Email == nil {
			to.Email = p.Email
		}
		after, err := s.change(ctx, p, to)
		if err == nil {
			return after.user()
		}
		if !errors.Is(err, errMoved) {
			return latchkey.User{}, err
		}
		if err := pause(ctx, try); err != nil {
			return latchkey.User{}, err
		}
	}
}

func asNext(c latchkey.UserChange) (n nextValue, err error) {
	for _, text := range []*string{c.Name, c.Email, c.Image} {
		if text != nil && !isText(*text) {
			return n, errText
		}
	}
	n.ID, n.Name, n.Image = rand.Text(), c.Name, c.Image
	set(&n.Email, c.Email)
	if c.EmailVerified != nil {
		at := stampOf(*c.EmailVerified)
		n.Verified = &at
	}
	return n, nil
}

// errMoved: somebody else has changed the user meanwhile.
var errMoved = errors.New("kvstore: the user has changed")

func orMoved(err error) error {
	if errors.Is(err, latchkey.ErrConflict) {
		return errMoved
	}
	return err
}

// change is one try to change a user. A new e-mail address is announced, claimed
// and then taken, in that order; the old one is free at the end.
func (s *Store) change(ctx context.Context, p person, to nextValue) (userValue, error) {
	after := p.with(to)
	if p.Next != nil { // somebody was interrupted: their change comes first
		if err := orMoved(s.settle(ctx, p)); err != nil {
			return after, err
		}
		return after, errMoved
	}
	if to.Email == p.Email || to.Email == "" {
		_, err := s.rewrite(ctx, p.seen, after, never)
		if err == nil && to.Email != p.Email {
			s.release(ctx, p.Email, p.owner())
		}
		return after, orMoved(err)
	}
	p.Next = &to
	var err error
	if p.seen, err = s.rewrite(ctx, p.seen, p.userValue, never); err != nil {
		return after, orMoved(err)
	}
	return after, s.settle(ctx, p)
}

// settle completes an announced change, or takes it back if the e-mail address
// is another's (ErrConflict). errMoved: somebody else has done so.
func (s *Store) settle(ctx context.Context, p person) error {
	claimed := s.claim(ctx, p.Next.Email, p.owner())
	after := p.userValue
	switch {
	case claimed == nil:
		after = p.with(*p.Next)
	case errors.Is(claimed, latchkey.ErrConflict):
		after.Next = nil
	default:
		return claimed
	}
	if _, err := s.rewrite(ctx, p.seen, after, never); err != nil {
		return orMoved(err)
	}
	if claimed == nil && p.Email != after.Email {
		s.release(ctx, p.Email, p.owner())
	}
	return claimed
}
