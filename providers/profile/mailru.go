package profile

// MailRu is what Mail.ru says about a person.
type MailRu struct {
	ID        string `json:"id"`
	ClientID  string `json:"client_id"`
	Gender    string `json:"gender"` // m or f
	Name      string `json:"name"`
	Nickname  string `json:"nickname"`
	Locale    string `json:"locale"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Email     string `json:"email"`
	Birthday  string `json:"birthday"` // DD.MM.YYYY
	Image     string `json:"image"`
}
