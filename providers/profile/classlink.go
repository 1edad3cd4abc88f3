package profile

// ClassLink is what ClassLink says about a person.
type ClassLink struct {
	UserID      int64  `json:"UserId"`
	TenantID    int64  `json:"TenantId"`
	SourcedID   string `json:"SourcedId"`
	Email       string `json:"Email"`
	DisplayName string `json:"DisplayName"`
	FirstName   string `json:"FirstName"`
	LastName    string `json:"LastName"`
	LoginID     string `json:"LoginId"`
	Role        string `json:"Role"`
	Tenant      string `json:"Tenant"`
}
