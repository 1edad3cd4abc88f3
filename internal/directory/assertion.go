package directory

import (
	"time"

	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// Assertion is a sign-in before its user is decided: what the provider says about the
// user, and what the request has found out beside that.
type Assertion struct {
	Person      storage.User    // the user as the provider describes them
	Said        *jwtclaims.Said // what the provider said in the fields of Person that are empty; nil: nothing, or the user is stored
	Account     storage.Account // as callbacks and events get it
	Keep        storage.Tokens  // what is stored of the account's tokens
	Profile     jwt.Claims
	IDToken     jwt.Claims // verified; nil: there is none
	Credentials map[string]string

	UserID      string       // the stored user whose password was shown; empty: another kind of sign-in
	NewPassword *NewPassword // of the user that it creates; nil: none
	Invitation  *Invited     // that it takes; nil: none
	ByLink      bool         // the link of the invitation is the proof: it creates a user, and signs in no other

	Vouched       bool                   // the application itself names the user
	ProvesEmail   bool                   // opening the link proved the e-mail address
	EmailVerified bool                   // the provider says that the e-mail address is verified
	Owner         string                 // id of the user that this must turn out to be; empty: any user
	Allowed       []string               // ids of the users that the application was asked about and let in; nil: it was not asked
	Passkey       *storage.Authenticator // the passkey that was registered with it; nil: none
	Link          Linking                // what a matching e-mail address is worth
	Counted       bool                   // its tries or mails were limited, so that the browser is remembered for the user
	Form          string                 // the key of what the user typed; empty: nothing
	BegunIn       *sessionref.Ref        // the session that it was begun in; nil: not recorded, and the user who is signed in now has begun it
	BegunFresh    bool                   // the user of that session had just signed in
	Issued        time.Time              // when its evidence was issued, such as a link, or the flow was begun; zero: as Started
	IssuedHere    bool                   // Issued is by the clock of this process
	Started       time.Time              // when the handling of the request that completes it started; zero: now
	Joined        time.Time              // the time of the sign-in behind the session that it is completed in; zero: unknown, or no session
	JoinedNames   []ProviderNames        // what its providers call that session
	IsAdopted     bool                   // the session of Joined was made elsewhere, and Joined is only when it was last renewed there
	AMR           []string               // what is proven (RFC 8176); nil: as the kind of the provider says
	ACR           string                 // what the proofs are worth
	Proved        time.Time              // the latest proof; zero: the sign-in
	AtProvider    *AtProvider            // what the provider calls the session there; nil: no logout is configured
	Second        *Second                // the second factor, which the transaction uses up; nil: none
	Connects      bool                   // it links an account to the signed-in user or grants it more scopes, and does nothing else
	Wanted        string                 // id of the account that Connects is about; empty: any
	IsStale       bool                   // the sign-in of Joined is too old to link an account
}

// Linking is how far a provider's word about an e-mail address is trusted.
type Linking int

const (
	NeverLink    Linking = iota // it proves nothing
	LinkVerified                // it proves an address that the provider calls verified
	LinkAnything                // it proves every address
)

// mayLink reports whether the provider's word proves the address: with LinkAnything it
// proves every one, with LinkVerified only one that the provider calls verified.
func (in *Assertion) mayLink() bool {
	return in.Link == LinkAnything || (in.Link == LinkVerified && in.EmailVerified)
}

// NamesUser reports whether the sign-in says by itself in which user it ends: by a
// password, by an e-mail address that it proves or signs up with, or because the
// application names the user. The signed-in user has no say in such a sign-in.
func (in *Assertion) NamesUser() bool {
	return in.Vouched || in.ProvesEmail || in.UserID != "" || in.NewPassword != nil
}

// contradicts reports whether the sign-in must not end in the user that it leads to.
// owner is the user that has the account, and current the signed-in user; nil: none.
//
//   - A passkey that is being registered must have no owner.
//   - Otherwise an empty in.Owner fits every user.
//   - With an owner, in.Owner must be the id of owner.
//   - Without an owner, the sign-in must register a passkey, and in.Owner must be the id of
//     current.
func (in *Assertion) contradicts(owner, current *storage.User) bool {
	switch {
	case owner != nil && in.Passkey != nil:
		return true
	case in.Owner == "":
		return false
	case owner != nil:
		return owner.ID != in.Owner
	}
	return in.Passkey == nil || current == nil || current.ID != in.Owner
}
