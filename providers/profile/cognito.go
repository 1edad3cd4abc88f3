package profile

// Cognito is what Cognito says about a person.
type Cognito struct {
	Standard
	Username string     `json:"cognito:username"`
	Groups   StringList `json:"cognito:groups"`
	TokenUse string     `json:"token_use"`
	EventID  string     `json:"event_id"`
}
