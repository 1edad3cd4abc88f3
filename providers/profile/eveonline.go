package profile

// EVEOnline is what the access token of EVE Online says about a character.
type EVEOnline struct {
	Subject  string   `json:"sub"` // CHARACTER:EVE: and the id of the character
	Name     string   `json:"name"`
	Owner    string   `json:"owner"` // changes when the character is sold
	Client   string   `json:"azp"`
	Audience []string `json:"aud"`
	Issuer   string   `json:"iss"`
	Scopes   any      `json:"scp"` // a text, or a list of several
	Tenant   string   `json:"tenant"`
	Tier     string   `json:"tier"`
	Region   string   `json:"region"`
	ID       string   `json:"jti"`
	Key      string   `json:"kid"`
	Expires  int64    `json:"exp"`
	Issued   int64    `json:"iat"`
}
