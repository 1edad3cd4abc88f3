package profile

// Vipps is what Vipps says about a person: what the scopes ask for.
type Vipps struct {
	OpenID
	Accounts          []VippsAccount         `json:"accounts"`
	Address           *VippsAddress          `json:"address"`
	OtherAddresses    []VippsAddress         `json:"other_addresses"`
	NIN               string                 `json:"nin"` // national identity number
	SessionID         string                 `json:"sid"` // of the session at Vipps
	DelegatedConsents VippsDelegatedConsents `json:"delegatedConsents"`
}

// VippsAccount is a bank account.
type VippsAccount struct {
	AccountName   string `json:"account_name"`
	AccountNumber int64  `json:"account_number"`
	BankName      string `json:"bank_name"`
}

// VippsAddress is a postal address.
type VippsAddress struct {
	AddressType   string `json:"address_type"`
	Country       string `json:"country"`
	Formatted     string `json:"formatted"`
	PostalCode    string `json:"postal_code"`
	Region        string `json:"region"`
	StreetAddress string `json:"street_address"`
}

// VippsDelegatedConsents is what the user agreed to in the app.
type VippsDelegatedConsents struct {
	Language                 string         `json:"language"`
	Heading                  string         `json:"heading"`
	TermsDescription         string         `json:"termsDescription"`
	ConfirmConsentButtonText string         `json:"confirmConsentButtonText"`
	Links                    VippsLinks     `json:"links"`
	TimeOfConsent            string         `json:"timeOfConsent"`
	Consents                 []VippsConsent `json:"consents"`
}

// VippsLinks are links of the consent page.
type VippsLinks struct {
	TermsLinkText            string `json:"termsLinkText"`
	TermsLinkURL             string `json:"termsLinkUrl"`
	PrivacyStatementLinkText string `json:"privacyStatementLinkText"`
	PrivacyStatementLinkURL  string `json:"privacyStatementLinkUrl"`
}

// VippsConsent is one thing that was asked.
type VippsConsent struct {
	ID                  string `json:"id"`
	Accepted            bool   `json:"accepted"`
	Required            bool   `json:"required"`
	TextDisplayedToUser string `json:"textDisplayedToUser"`
}
