package profile

// WeChat is what WeChat says about a person.
type WeChat struct {
	OpenID       string   `json:"openid"` // of the person in this application
	Nickname     string   `json:"nickname"`
	Sex          int64    `json:"sex"` // 1: male, 2: female, 0: not said
	Province     string   `json:"province"`
	City         string   `json:"city"`
	Country      string   `json:"country"`
	HeadImageURL string   `json:"headimgurl"`
	Privilege    []string `json:"privilege"`
	UnionID      string   `json:"unionid"` // of the person in all applications of the developer's Open Platform account
}
