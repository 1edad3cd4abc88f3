package profile

// Zitadel is what a ZITADEL ID token says.
type Zitadel struct {
	OpenID
	AMR           StringList `json:"amr"`
	Phone         string     `json:"phone"`
	PhoneVerified bool       `json:"phone_verified"`
}
