package profile

// WeCom is what WeCom says about a member of a company.
type WeCom struct {
	UserID       string `json:"userid"`
	Name         string `json:"name"`
	Alias        string `json:"alias"`
	Email        string `json:"email"`
	Avatar       string `json:"avatar"`
	Address      string `json:"address"`
	ErrorCode    int64  `json:"errcode"` // 0: none
	ErrorMessage string `json:"errmsg"`
}
