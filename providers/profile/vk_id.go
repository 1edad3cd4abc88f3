package profile

// VKID is what VK ID says of a person.
type VKID struct {
	User struct {
		UserID    string `json:"user_id"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
		Phone     string `json:"phone"`
		Avatar    string `json:"avatar"`
		Email     string `json:"email"`
		Sex       int64  `json:"sex"`      // 1: female, 2: male, 0: not given
		Verified  bool   `json:"verified"` // the account, not the e-mail
		Birthday  string `json:"birthday"` // such as 01.01.2000
	} `json:"user"`
}
