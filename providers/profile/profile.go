// Package profile has structs for the profiles of users at providers. latchkey.Decode
// fills them.
//
// The fields follow what the vendors send. They change when a vendor changes its
// profiles, and so are outside the promise of compatibility that this module makes.
package profile

// OpenID holds the standard claims of OpenID Connect Core 1.0, section 5.1, as
// ID tokens and userinfo have them. What a provider leaves out, or says is null,
// is empty; where the two have to be told apart there is a pointer.
type OpenID struct {
	IDToken // of it, userinfo has the Subject alone

	ID string `json:"id"` // not of the standard; some providers write it instead of sub

	Name              string `json:"name"`
	GivenName         string `json:"given_name"`
	FamilyName        string `json:"family_name"`
	MiddleName        string `json:"middle_name"`
	Nickname          string `json:"nickname"`
	PreferredUsername string `json:"preferred_username"` // may change and be taken over by another person

	Profile string `json:"profile"` // URL of a page about the person
	Picture any    `json:"picture"` // a URL; with some providers an object
	Website string `json:"website"`

	Email         string `json:"email"`
	EmailVerified *bool  `json:"email_verified"` // nil: null, or not said

	Gender    string `json:"gender"`
	Birthdate string `json:"birthdate"` // YYYY-MM-DD, 0000-MM-DD without the year, or YYYY
	Zoneinfo  string `json:"zoneinfo"`  // such as Europe/Paris
	Locale    string `json:"locale"`    // BCP 47, such as en-US

	PhoneNumber         string `json:"phone_number"`
	PhoneNumberVerified *bool  `json:"phone_number_verified"` // nil: null, or not said

	Address   *Address `json:"address"`    // nil: null, or not said
	UpdatedAt any      `json:"updated_at"` // seconds since 1970; with some providers a text
}

// Address is a postal address (OpenID Connect Core 1.0, section 5.1.1).
type Address struct {
	Formatted     string `json:"formatted"` // all of it, possibly in several lines
	StreetAddress string `json:"street_address"`
	Locality      string `json:"locality"` // city
	Region        string `json:"region"`   // state, province
	PostalCode    string `json:"postal_code"`
	Country       string `json:"country"`
}
