package profile

// SeaTalk is what SeaTalk says about a person.
type SeaTalk struct {
	UserID string `json:"user_id"`
	Name   string `json:"name"`
	Email  string `json:"email"`
}
