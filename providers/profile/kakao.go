package profile

// Kakao is what Kakao says about a person.
type Kakao struct {
	ID          int64  `json:"id"`
	ConnectedAt string `json:"connected_at"`
	SynchedAt   string `json:"synched_at"`
	Properties  struct {
		Nickname       string `json:"nickname"`
		ProfileImage   string `json:"profile_image"`
		ThumbnailImage string `json:"thumbnail_image"`
		ID             string `json:"id"`
		Status         string `json:"status"`
		RegisteredAt   string `json:"registered_at"`
		MsgBlocked     bool   `json:"msg_blocked"`
	} `json:"properties"`
	KakaoAccount struct {
		Profile struct {
			Nickname          string `json:"nickname"`
			ThumbnailImageURL string `json:"thumbnail_image_url"`
			ProfileImageURL   string `json:"profile_image_url"`
			IsDefaultImage    bool   `json:"is_default_image"`
		} `json:"profile"`
		IsEmailValid                  bool   `json:"is_email_valid"`
		IsEmailVerified               bool   `json:"is_email_verified"`
		Email                         string `json:"email"`
		ProfileNeedsAgreement         bool   `json:"profile_needs_agreement"`
		ProfileNicknameNeedsAgreement bool   `json:"profile_nickname_needs_agreement"`
		ProfileImageNeedsAgreement    bool   `json:"profile_image_needs_agreement"`
		NameNeedsAgreement            bool   `json:"name_needs_agreement"`
		Name                          string `json:"name"`
		EmailNeedsAgreement           bool   `json:"email_needs_agreement"`
		AgeRangeNeedsAgreement        bool   `json:"age_range_needs_agreement"`
		AgeRange                      string `json:"age_range"`
		BirthyearNeedsAgreement       bool   `json:"birthyear_needs_agreement"`
		Birthyear                     string `json:"birthyear"`
		BirthdayNeedsAgreement        bool   `json:"birthday_needs_agreement"`
		Birthday                      string `json:"birthday"`
		BirthdayType                  string `json:"birthday_type"`
		GenderNeedsAgreement          bool   `json:"gender_needs_agreement"`
		Gender                        string `json:"gender"`
		PhoneNumberNeedsAgreement     bool   `json:"phone_number_needs_agreement"`
		PhoneNumber                   string `json:"phone_number"`
		CINeedsAgreement              bool   `json:"ci_needs_agreement"`
		CI                            string `json:"ci"`
		CIAuthenticatedAt             string `json:"ci_authenticated_at"`
	} `json:"kakao_account"`
	HasSignedUp bool `json:"has_signed_up"`
}
