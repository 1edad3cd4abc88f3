package profile

// Snapchat is what Snapchat says about a person, in the envelope of its GraphQL API.
type Snapchat struct {
	Data struct {
		Me struct {
			ExternalID  string `json:"externalId"` // for this app alone
			DisplayName string `json:"displayName"`
			Bitmoji     struct {
				Avatar string `json:"avatar"`
			} `json:"bitmoji"`
		} `json:"me"`
	} `json:"data"`
}
