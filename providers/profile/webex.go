package profile

// Webex is what Webex says about a person.
type Webex struct {
	ID           string   `json:"id"`
	Emails       []string `json:"emails"`
	DisplayName  string   `json:"displayName"`
	NickName     string   `json:"nickName"`
	FirstName    string   `json:"firstName"`
	LastName     string   `json:"lastName"`
	Avatar       string   `json:"avatar"`
	OrgID        string   `json:"orgId"`
	Created      string   `json:"created"`
	LastActivity string   `json:"lastActivity"`
	Status       string   `json:"status"`
	Type         string   `json:"type"` // person or bot
}
