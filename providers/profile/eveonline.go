package profile

// EVEOnline is what EVE Online says about a person.
type EVEOnline struct {
	CharacterID          int64  `json:"CharacterID"`
	CharacterName        string `json:"CharacterName"`
	ExpiresOn            string `json:"ExpiresOn"`
	Scopes               string `json:"Scopes"`
	TokenType            string `json:"TokenType"`
	CharacterOwnerHash   string `json:"CharacterOwnerHash"`
	IntellectualProperty string `json:"IntellectualProperty"`
}
