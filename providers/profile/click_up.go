package profile

// ClickUp is what ClickUp says about a person.
type ClickUp struct {
	User struct {
		ID                int64  `json:"id"`
		Username          string `json:"username"`
		Email             string `json:"email"`
		Color             string `json:"color"`
		ProfilePicture    string `json:"profilePicture"`
		Initials          string `json:"initials"`
		WeekStartDay      int64  `json:"week_start_day"`
		GlobalFontSupport bool   `json:"global_font_support"`
		Timezone          string `json:"timezone"`
	} `json:"user"`
}
