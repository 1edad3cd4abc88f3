package latchkey

import (
	"context"
	"errors"
	"strings"
	"time"
)

// arrival is what a provider knows of the person at the door.
type arrival struct {
	user        User // as the provider describes them
	account     Account
	profile     Claims
	credentials map[string]string

	vouched       bool    // the application itself says who this is
	provesEmail   bool    // opening the link proved the address
	emailVerified bool    // the provider says that the address is verified
	link          linking // what a matching address is worth
	begunBy       string  // id of the user who began this in a session whose cookie could not come along
}

// linking is what a provider's word about an address is worth.
type linking int

const (
	neverLink    linking = iota // an address is not proof
	linkVerified                // it is, if the provider says it is verified
	linkAnything                // it is, whatever the provider says
)

// admission is the user an arrival turned out to be.
type admission struct {
	arrival
	user    User
	isNew   bool
	session StoredSession // with stored sessions
}

// signIn answers POST /signin and /signin/:provider.
func (v *visit) signIn(ctx context.Context) (*Response, error) {
	if v.providerID == "" {
		return &Response{Redirect: v.url("signin")}, nil
	}
	if v.provider == nil {
		return nil, ErrInvalidProvider.because(errors.New("no provider has the id in the address"))
	}
	res, err := v.provider.begin(ctx, v)
	return v.follow(ctx, res, err)
}

// callback answers /callback/:provider.
func (v *visit) callback(ctx context.Context) (*Response, error) {
	if v.provider == nil {
		return nil, ErrInvalidProvider.because(errors.New("no provider has the id in the address"))
	}
	res, err := v.receive(ctx)
	return v.follow(ctx, res, err)
}

func (v *visit) receive(ctx context.Context) (*Response, error) {
	in, err := v.provider.receive(ctx, v)
	if err != nil {
		return nil, v.atProvider(err)
	}
	return v.completeSignIn(ctx, *in)
}

// follow sends the visitor where a callback wants them to go instead.
func (v *visit) follow(ctx context.Context, res *Response, err error) (*Response, error) {
	elsewhere, ok := errors.AsType[*redirect](err)
	if !ok {
		if own, ok := errors.AsType[*ownResponse](err); ok {
			return own.res, nil
		}
		return res, err
	}
	to, err := v.landing(ctx, elsewhere.to)
	if err != nil {
		return nil, ErrAccessDenied.because(err)
	}
	return &Response{Redirect: to}, nil
}

// atProvider names the provider in err, and gives what has no type one.
func (v *visit) atProvider(err error) error {
	if _, ok := errors.AsType[*redirect](err); ok {
		return err
	}
	if _, ok := errors.AsType[*ownResponse](err); ok {
		return err
	}
	id := v.provider.info().id
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Provider != "" {
			return err
		}
		named := *e
		named.Provider = id
		return &named
	}
	if t, ok := errors.AsType[ErrorType](err); ok {
		return t.at(id, nil)
	}
	return ErrCallbackRoute.at(id, err)
}

// completeSignIn is the one way in, whatever the provider.
func (v *visit) completeSignIn(ctx context.Context, in arrival) (*Response, error) {
	owner, err := v.recognize(ctx, v.store, in)
	if err != nil {
		return nil, v.atProvider(err)
	}
	if err := v.authorize(ctx, in, owner); err != nil {
		return nil, err
	}
	who, err := v.admit(ctx, in)
	if err != nil {
		return nil, v.atProvider(err)
	}
	v.tellAll(ctx)
	if err := v.sessions.open(ctx, v, who); err != nil {
		return nil, v.atProvider(err)
	}
	v.tellSignIn(who)
	return &Response{Redirect: v.destination(who)}, nil
}

// authorize asks the application whether the arrival may come in.
func (v *visit) authorize(ctx context.Context, in arrival, owner *User) error {
	if owner == nil {
		owner = &in.user
	}
	return v.mayEnter(ctx, SignInAttempt{User: *owner, Account: in.account, Profile: in.profile, Credentials: in.credentials})
}

// mayEnter runs the sign-in callback: no is ErrAccessDenied, a redirect passes as it is.
func (v *visit) mayEnter(ctx context.Context, a SignInAttempt) error {
	ask := v.Callbacks.SignIn
	if ask == nil {
		return nil
	}
	err := contain(func() error { return ask(ctx, a) })
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*redirect](err); ok {
		return err
	}
	return ErrAccessDenied.at(a.Account.Provider, err)
}

func (v *visit) tellSignIn(who *admission) {
	v.log.info(v, "signed in", "user", who.user.ID, "new", who.isNew)
	if told := v.Events.SignIn; told != nil {
		e := SignInEvent{User: who.user, Account: who.account, Profile: who.profile, IsNewUser: who.isNew}
		v.tell("signIn", func(ctx context.Context) error { return told(ctx, e) })
	}
}

// destination is where the visitor goes once signed in.
func (v *visit) destination(who *admission) string {
	if who.isNew && v.Pages.NewUser != "" {
		return v.absolute(withQuery(v.Pages.NewUser, "callbackUrl", v.callbackURL))
	}
	return v.callbackURL
}

// normalEmail is an address as users are found by it.
func normalEmail(address string) string { return strings.ToLower(strings.TrimSpace(address)) }

// soon is when a value that lives for a few minutes ends.
func (v *visit) soon(life time.Duration) time.Time { return v.now().Add(life) }
