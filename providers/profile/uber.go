package profile

// Uber is what Uber says about a person.
type Uber struct {
	UUID           string `json:"uuid"`
	RiderID        string `json:"rider_id"`
	FirstName      string `json:"first_name"`
	LastName       string `json:"last_name"`
	Email          string `json:"email"`
	MobileVerified bool   `json:"mobile_verified"`
	Picture        string `json:"picture"`
	PromoCode      string `json:"promo_code"`
}
