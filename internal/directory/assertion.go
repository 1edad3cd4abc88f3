package directory

import (
	"time"

	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// Assertion is what a provider says about a person.
type Assertion struct {
	Person      storage.User    // as the provider describes them
	Said        *jwtclaims.Said // what the provider said in the fields of person that are empty; nil: nothing, or the user is stored
	Account     storage.Account // as callbacks and events get it
	Keep        storage.Tokens  // what is stored of the account's tokens
	Profile     jwt.Claims
	Credentials map[string]string

	Vouched       bool                   // the application itself says who this is
	ProvesEmail   bool                   // opening the link proved the e-mail address
	EmailVerified bool                   // the provider says that the e-mail address is verified
	Owner         string                 // id of the user that it must turn out to be; empty: it may be anybody
	Passkey       *storage.Authenticator // that was registered with it; nil: none
	Link          Linking                // what a matching e-mail address is worth
	CountedAs     string                 // what its tries or mails were counted under; empty: nothing
	BegunIn       *sessionref.Ref        // the session it was begun in; nil: nothing says so, and who is signed in now has begun it
	BegunFresh    bool                   // … by a user who had just signed in
	Joined        time.Time              // when the user signed in whose session it is completed in; zero: unknown, or in none
	IsStale       bool                   // … too long ago to gain an account on a site where they change their own
}

// Linking is how far a provider's word about an e-mail address is trusted.
type Linking int

const (
	NeverLink    Linking = iota // it is no proof
	LinkVerified                // it is, if the provider says it is verified
	LinkAnything                // it is, whatever the provider says
)

// mayLink reports whether the provider is trusted with e-mail addresses and
// vouches for this one.
func (in *Assertion) mayLink() bool {
	return in.Link == LinkAnything || (in.Link == LinkVerified && in.EmailVerified)
}

// contradicts reports whether this is another user than Owner. A new passkey
// has no owner yet, whatever its id is.
func (in *Assertion) contradicts(owner, here *storage.User) bool {
	switch {
	case owner != nil && in.Passkey != nil:
		return true
	case in.Owner == "":
		return false
	case owner != nil:
		return owner.ID != in.Owner
	}
	return in.Passkey == nil || here == nil || here.ID != in.Owner
}
