package profile

// PayPal is what PayPal says about a person.
type PayPal struct {
	UserID          string        `json:"user_id"` // a URL
	Subject         string        `json:"sub"`
	Name            string        `json:"name"`
	PayerID         string        `json:"payer_id"`
	VerifiedAccount Flag          `json:"verified_account"` // PayPal knows who they are; says nothing of an e-mail
	Emails          []PayPalEmail `json:"emails"`
	Address         *Address      `json:"address"`
}

// PayPalEmail is one of a person's e-mails.
type PayPalEmail struct {
	Value     string `json:"value"`
	Primary   bool   `json:"primary"`
	Confirmed bool   `json:"confirmed"`
}
