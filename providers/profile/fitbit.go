package profile

// Fitbit is what Fitbit says about a person.
type Fitbit struct {
	User struct {
		EncodedID   string `json:"encodedId"` // immutable; the same as user_id of the token answer
		FullName    string `json:"fullName"`
		DisplayName string `json:"displayName"`
		FirstName   string `json:"firstName"`
		LastName    string `json:"lastName"`
		Gender      string `json:"gender"`
		DateOfBirth string `json:"dateOfBirth"`
		Country     string `json:"country"`
		Locale      string `json:"locale"`
		MemberSince string `json:"memberSince"`
		Avatar      string `json:"avatar"`
		Avatar150   string `json:"avatar150"`
		Avatar640   string `json:"avatar640"`
		Timezone    string `json:"timezone"`
		Ambassador  bool   `json:"ambassador"`
	} `json:"user"`
}
