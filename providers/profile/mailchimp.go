package profile

// Mailchimp is what Mailchimp says about an account and about who signed in to it.
type Mailchimp struct {
	DataCenter  string         `json:"dc"` // data centre, the first label of the API's host
	Role        string         `json:"role"`
	AccountName string         `json:"accountname"`
	UserID      int64          `json:"user_id"` // of the account, which several people may share
	LoginURL    string         `json:"login_url"`
	APIEndpoint string         `json:"api_endpoint"`
	Login       MailchimpLogin `json:"login"`
}

// MailchimpLogin is the person.
type MailchimpLogin struct {
	Email      string `json:"email"`
	Avatar     string `json:"avatar"`
	LoginID    int64  `json:"login_id"`
	LoginName  string `json:"login_name"`
	LoginEmail string `json:"login_email"`
}
