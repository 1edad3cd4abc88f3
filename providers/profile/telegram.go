package profile

// Telegram is what Telegram says about a person.
type Telegram struct {
	Standard
	ID int64 `json:"id"` // of the account, as bots know it
}
