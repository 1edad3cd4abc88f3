package profile

// Stripe is what Stripe says about an account.
type Stripe struct {
	ID               string                `json:"id"`
	Object           string                `json:"object"`
	Email            string                `json:"email"`
	Country          string                `json:"country"`
	DefaultCurrency  string                `json:"default_currency"`
	BusinessType     string                `json:"business_type"`
	Type             string                `json:"type"`
	ChargesEnabled   bool                  `json:"charges_enabled"`
	PayoutsEnabled   bool                  `json:"payouts_enabled"`
	DetailsSubmitted bool                  `json:"details_submitted"`
	Created          int64                 `json:"created"` // seconds since 1970
	BusinessProfile  StripeBusinessProfile `json:"business_profile"`
	Settings         StripeSettings        `json:"settings"`
}

// StripeBusinessProfile is what the account's customers are shown.
type StripeBusinessProfile struct {
	Name         string `json:"name"`
	URL          string `json:"url"`
	SupportEmail string `json:"support_email"`
}

// StripeSettings are some of an account's settings.
type StripeSettings struct {
	Dashboard StripeDashboard `json:"dashboard"`
}

// StripeDashboard is how the account looks to those who run it.
type StripeDashboard struct {
	DisplayName string `json:"display_name"`
	Timezone    string `json:"timezone"`
}
