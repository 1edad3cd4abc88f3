package profile

// Notion is a person of a Notion workspace.
type Notion struct {
	Object    string       `json:"object"`
	ID        string       `json:"id"`
	Type      string       `json:"type"` // person
	Name      string       `json:"name"`
	AvatarURL string       `json:"avatar_url"`
	Person    NotionPerson `json:"person"`
}

// NotionPerson is what only people have, and bots do not.
type NotionPerson struct {
	Email string `json:"email"`
}
