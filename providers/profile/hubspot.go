package profile

// HubSpot is what HubSpot says about a person.
type HubSpot struct {
	Token     string   `json:"token"`
	User      string   `json:"user"`
	HubDomain string   `json:"hub_domain"`
	Scopes    []string `json:"scopes"`
	HubID     int64    `json:"hub_id"`
	AppID     int64    `json:"app_id"`
	ExpiresIn int64    `json:"expires_in"`
	UserID    int64    `json:"user_id"`
	TokenType string   `json:"token_type"`
}
