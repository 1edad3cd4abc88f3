package profile

// HubSpot is what HubSpot says about a person's token.
type HubSpot struct {
	Active    bool     `json:"active"`
	Token     string   `json:"token"`
	User      string   `json:"user"` // an e-mail address
	HubDomain string   `json:"hub_domain"`
	Scopes    []string `json:"scopes"`
	HubID     int64    `json:"hub_id"`
	AppID     int64    `json:"app_id"`
	ClientID  string   `json:"client_id"`
	ExpiresIn int64    `json:"expires_in"`
	UserID    int64    `json:"user_id"`
	TokenType string   `json:"token_type"`
	TokenUse  string   `json:"token_use"`
}
