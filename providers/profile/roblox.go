package profile

// Roblox is what a Roblox ID token says.
type Roblox struct {
	OpenID
	CreatedAt int64 `json:"created_at"` // of the account, in seconds since 1970
}
