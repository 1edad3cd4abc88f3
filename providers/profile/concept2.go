package profile

// Concept2 is what Concept2 says about a person.
type Concept2 struct {
	Data struct {
		ID              int64  `json:"id"`
		Username        string `json:"username"`
		FirstName       string `json:"first_name"`
		LastName        string `json:"last_name"`
		Gender          string `json:"gender"`
		DateOfBirth     string `json:"dob"` // YYYY-MM-DD
		Email           string `json:"email"`
		Country         string `json:"country"`
		ProfileImage    string `json:"profile_image"`
		AgeRestricted   bool   `json:"age_restricted"`
		EmailPermission *bool  `json:"email_permission"` // nil: not said
		MaxHeartRate    *int64 `json:"max_heart_rate"`   // nil: not said
		Weight          *int64 `json:"weight"`           // in 10 g; nil: not said
		LogbookPrivacy  string `json:"logbook_privacy"`
	} `json:"data"`
}
