package profile

// OpenStreetMap is what OpenStreetMap says about a person.
type OpenStreetMap struct {
	User struct {
		ID             int64  `json:"id"`
		DisplayName    string `json:"display_name"` // may change
		AccountCreated string `json:"account_created"`
		Description    string `json:"description"`
		Img            struct {
			Href string `json:"href"`
		} `json:"img"`
	} `json:"user"`
}
