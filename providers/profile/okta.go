package profile

// Okta is what an Okta ID token says.
type Okta struct {
	OpenID
	Version          int64      `json:"ver"` // 1
	AMR              StringList `json:"amr"` // how the person proved who they are
	IdentityProvider string     `json:"idp"`
}
