package profile

// Naver is what Naver says about a person, in its envelope.
type Naver struct {
	ResultCode string    `json:"resultcode"` // 00: success
	Message    string    `json:"message"`
	Response   NaverUser `json:"response"`
}

// NaverUser is the person. What they did not agree to is empty.
type NaverUser struct {
	ID           string `json:"id"` // of the person in this application
	Nickname     string `json:"nickname"`
	Name         string `json:"name"`
	Email        string `json:"email"`
	Gender       string `json:"gender"`   // F, M or U
	Age          string `json:"age"`      // a range, such as 40-49
	Birthday     string `json:"birthday"` // MM-DD
	ProfileImage string `json:"profile_image"`
	Birthyear    string `json:"birthyear"` // YYYY
	Mobile       string `json:"mobile"`
}
