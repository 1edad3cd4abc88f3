package profile

// Zoho is what Zoho says about a person.
type Zoho struct {
	ZUID        int64  `json:"ZUID"`
	FirstName   string `json:"First_Name"`
	LastName    string `json:"Last_Name"`
	DisplayName string `json:"Display_Name"`
	Email       string `json:"Email"`
}
