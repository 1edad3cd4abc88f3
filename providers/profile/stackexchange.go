package profile

// StackExchange is what Stack Exchange says about a person, who is the only item.
type StackExchange struct {
	Items []struct {
		AccountID    int64  `json:"account_id"` // in the whole network
		UserID       int64  `json:"user_id"`    // at this site of it
		UserType     string `json:"user_type"`
		DisplayName  string `json:"display_name"` // escaped for HTML
		ProfileImage string `json:"profile_image"`
		Link         string `json:"link"`
		Reputation   int64  `json:"reputation"`
	} `json:"items"`
	HasMore        bool  `json:"has_more"`
	QuotaMax       int64 `json:"quota_max"`
	QuotaRemaining int64 `json:"quota_remaining"`
}
