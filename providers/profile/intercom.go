package profile

// Intercom is what Intercom says about a person.
type Intercom struct {
	Type          string `json:"type"`
	ID            string `json:"id"`
	Email         string `json:"email"`
	Name          string `json:"name"`
	EmailVerified bool   `json:"email_verified"`
	App           struct {
		Type      string `json:"type"`
		IDCode    string `json:"id_code"`
		Name      string `json:"name"`
		CreatedAt int64  `json:"created_at"`
		Timezone  string `json:"timezone"`
	} `json:"app"`
	Avatar struct {
		Type     string `json:"type"`
		ImageURL string `json:"image_url"`
	} `json:"avatar"`
	HasInboxSeat bool `json:"has_inbox_seat"`
}
