package profile

// Pinterest is what Pinterest says about an account.
type Pinterest struct {
	ID             string `json:"id"`
	AccountType    string `json:"account_type"` // PINNER or BUSINESS
	Username       string `json:"username"`     // may change and be taken over by another person
	ProfileImage   string `json:"profile_image"`
	WebsiteURL     string `json:"website_url"`
	About          string `json:"about"`
	BusinessName   string `json:"business_name"`
	BoardCount     int64  `json:"board_count"`
	PinCount       int64  `json:"pin_count"`
	FollowerCount  int64  `json:"follower_count"`
	FollowingCount int64  `json:"following_count"`
	MonthlyViews   int64  `json:"monthly_views"`
}
