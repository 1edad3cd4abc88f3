package profile

// NetSuite is what the script of an account says about a person. Which members there are is up to the author of the script.
type NetSuite struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	Email      string `json:"email"`
	Location   int64  `json:"location"`
	Role       int64  `json:"role"` // number of the role
	RoleID     string `json:"roleId"`
	RoleCenter string `json:"roleCenter"`
	Contact    int64  `json:"contact"`
	Subsidiary int64  `json:"subsidiary"`
	Department int64  `json:"department"`
}
