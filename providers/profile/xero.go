package profile

// Xero is what a Xero ID token says.
type Xero struct {
	OpenID
	UserID           string `json:"xero_userid"`
	GlobalSessionID  string `json:"global_session_id"`
	SessionID        string `json:"sid"`
	IdentityProvider string `json:"idp"`
}
