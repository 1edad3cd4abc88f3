package profile

// Box is what Box says about a person.
type Box struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Login     string `json:"login"`
	CreatedAt string `json:"created_at"`
	Language  string `json:"language"`
	Timezone  string `json:"timezone"`
	Status    string `json:"status"`
	JobTitle  string `json:"job_title"`
	Phone     string `json:"phone"`
	Address   string `json:"address"`
	AvatarURL string `json:"avatar_url"`
}
