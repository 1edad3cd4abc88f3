package profile

// Bungie is what Bungie says about a person.
type Bungie struct {
	Response struct {
		DestinyMemberships []struct {
			MembershipType int64  `json:"membershipType"`
			MembershipID   string `json:"membershipId"`
			DisplayName    string `json:"displayName"`
		} `json:"destinyMemberships"`
		BungieNetUser struct {
			MembershipID       string `json:"membershipId"`
			UniqueName         string `json:"uniqueName"`
			DisplayName        string `json:"displayName"`
			ProfilePicture     int64  `json:"profilePicture"`
			ProfilePicturePath string `json:"profilePicturePath"`
			FirstAccess        string `json:"firstAccess"`
			LastUpdate         string `json:"lastUpdate"`
			Locale             string `json:"locale"`
		} `json:"bungieNetUser"`
	} `json:"Response"`
	ErrorCode       int64  `json:"ErrorCode"`
	ThrottleSeconds int64  `json:"ThrottleSeconds"`
	ErrorStatus     string `json:"ErrorStatus"`
	Message         string `json:"Message"`
}
