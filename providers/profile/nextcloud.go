package profile

// Nextcloud is what a Nextcloud server says about a person.
type Nextcloud struct {
	ID              string   `json:"id"`
	Email           string   `json:"email"`
	DisplayName     string   `json:"displayname"`
	Phone           string   `json:"phone"`
	Address         string   `json:"address"`
	Website         string   `json:"website"`
	Twitter         string   `json:"twitter"`
	Fediverse       string   `json:"fediverse"`
	Organisation    string   `json:"organisation"`
	Role            string   `json:"role"`
	Headline        string   `json:"headline"`
	Biography       string   `json:"biography"`
	Groups          []string `json:"groups"`
	Language        string   `json:"language"`
	Locale          string   `json:"locale"`
	Enabled         bool     `json:"enabled"`
	StorageLocation string   `json:"storageLocation"`
}
