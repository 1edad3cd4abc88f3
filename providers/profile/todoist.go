package profile

// Todoist is what Todoist says about a person.
type Todoist struct {
	ID             string `json:"id"`
	Email          string `json:"email"`
	FullName       string `json:"full_name"`
	AvatarSmall    string `json:"avatar_small"`
	AvatarMedium   string `json:"avatar_medium"`
	AvatarBig      string `json:"avatar_big"`
	AvatarS640     string `json:"avatar_s640"`
	Lang           string `json:"lang"`
	IsPremium      bool   `json:"is_premium"`
	JoinedAt       string `json:"joined_at"`
	InboxProjectID string `json:"inbox_project_id"`
}
