package profile

// Heroku is what Heroku says about a person.
type Heroku struct {
	ID                      string `json:"id"`
	Name                    string `json:"name"`
	Email                   string `json:"email"`
	Verified                bool   `json:"verified"` // with a payment method; says nothing about the e-mail
	TwoFactorAuthentication bool   `json:"two_factor_authentication"`
	CreatedAt               string `json:"created_at"`
	UpdatedAt               string `json:"updated_at"`
	LastLogin               string `json:"last_login"`
	Federated               bool   `json:"federated"`
}
