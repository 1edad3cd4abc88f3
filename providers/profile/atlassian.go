package profile

// Atlassian is what Atlassian says about a person.
type Atlassian struct {
	AccountType   string `json:"account_type"`
	AccountID     string `json:"account_id"`
	Email         string `json:"email"`
	Name          string `json:"name"`
	Picture       string `json:"picture"`
	AccountStatus string `json:"account_status"`
	Nickname      string `json:"nickname"`
	Zoneinfo      string `json:"zoneinfo"`
	Locale        string `json:"locale"`
}
