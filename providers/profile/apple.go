package profile

// Apple is what an Apple ID token says.
type Apple struct {
	IDToken
	NonceSupported Flag            `json:"nonce_supported"`
	Email          string          `json:"email"`
	EmailVerified  Flag            `json:"email_verified"`
	IsPrivateEmail Flag            `json:"is_private_email"` // Email is a relay of Apple's
	RealUserStatus AppleRealStatus `json:"real_user_status"`
	TransferSub    string          `json:"transfer_sub"` // while an application moves to another team
	User           *AppleUser      `json:"user"`         // nil in an ID token; see AppleUser
}

// AppleRealStatus is how likely Apple thinks it that the user is a person.
type AppleRealStatus int

// The likelihoods.
const (
	AppleRealUnsupported AppleRealStatus = iota // this platform cannot say
	AppleRealUnknown
	AppleRealLikely
)

// AppleUser is what the form field user of the callback holds at the first
// consent: JSON that is not signed.
type AppleUser struct {
	Name struct {
		FirstName string `json:"firstName"`
		LastName  string `json:"lastName"`
	} `json:"name"`
	Email string `json:"email"`
}
