package admin

import (
	"context"
	"errors"
	"net/http"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/users"
)

// person is a user with everything that staff see.
type person struct {
	user     latchkey.User
	staff    bool // the user is staff, or may be: asking failed
	actions  []Action
	accounts []storage.Account
	passkeys []storage.Authenticator
	factors  []storage.Factor
	sessions []storage.StoredSession
	activity []users.Activity
}

// order is the order in which actions are offered.
var order = []Action{Suspend, Restore, Update, Email, Recover, SignInLink, PasswordReset, EndSessions, Unlink, RemovePasskey, ResetFactors, Export, ActAs, Delete}

// person answers GET /users/{id}, and reports event.UserViewed.
func (c *call) person(ctx context.Context, u latchkey.User) (*latchkey.Response, error) {
	c.tell(ctx, event.Event{Type: event.UserViewed, UserID: u.ID})
	if !c.json {
		return c.personPage(ctx, &u, nil)
	}
	p, err := c.look(ctx, &u)
	if err != nil {
		return c.fail(ctx, err)
	}
	return writeJSON(http.StatusOK, personJSON(p)), nil
}

// look reads what is kept of a user, as far as the store has it, and which actions to
// offer. The acting staff member, and a user that Options.Staff fails for, count as
// staff.
func (c *call) look(ctx context.Context, u *latchkey.User) (p *person, err error) {
	p = &person{user: *u}
	staff, asked := c.isStaff(ctx, *u)
	p.staff = staff || asked != nil || u.ID == c.staff.ID
	can, err := c.users.Capabilities(ctx)
	if err != nil {
		return nil, err
	}
	p.accounts, err = read(ctx, err, can.Accounts, u.ID, c.users.Accounts)
	p.passkeys, err = read(ctx, err, can.Passkeys, u.ID, c.users.Passkeys)
	p.factors, err = read(ctx, err, can.Factors, u.ID, c.users.Factors)
	p.sessions, err = read(ctx, err, can.Sessions, u.ID, c.users.Sessions)
	p.activity, err = read(ctx, err, can.Activity, u.ID, c.users.Activity)
	p.actions = c.offered(ctx, p, &can)
	return p, err
}

// read returns list(ctx, id). If failed is not nil it returns nil and failed, and does
// not call list. If can is false, or if the store lacks the table of the list, it returns
// nil, nil.
func read[T any](ctx context.Context, failed error, can bool, id string, list func(context.Context, string) ([]T, error)) ([]T, error) {
	if failed != nil || !can {
		return nil, failed
	}
	found, err := list(ctx, id)
	if errors.Is(err, errors.ErrUnsupported) { // a layout without the table
		return nil, nil
	}
	return found, err
}

// offered returns the actions that make sense for a user, that the site can do, and that
// the application allows.
func (c *call) offered(ctx context.Context, p *person, can *users.Capabilities) []Action {
	u := &p.user
	suspended, hasEmail := u.Suspension.Holds(c.clock()), u.Email != ""
	fits := map[Action]bool{
		Suspend: can.Suspend && !suspended, Restore: can.Suspend && suspended, Update: true,
		Email: !u.Provisioned.IsZero() || can.ChangeEmail, Recover: u.Provisioned.IsZero() && can.ChangeEmail && hasEmail && !suspended, SignInLink: can.SignInLink && hasEmail && !suspended,
		PasswordReset: can.Passwords && hasEmail && !suspended, EndSessions: can.EndSessions,
		Unlink: can.Accounts && len(p.accounts) > 0, RemovePasskey: can.Passkeys && can.Accounts && len(p.passkeys) > 0,
		ResetFactors: can.Factors && len(p.factors) > 0, Export: true, ActAs: can.ActAs && !suspended, Delete: can.Delete,
	}
	list := []Action{}
	for _, action := range order {
		if fits[action] && (c.deeds[action].onStaff || !p.staff) && c.may(ctx, action, *u) == nil {
			list = append(list, action)
		}
	}
	return list
}
