package profile

// QQ is what QQ says about a person.
type QQ struct {
	OpenID       string `json:"openid"` // for this application alone
	Ret          int64  `json:"ret"`
	Msg          string `json:"msg"`
	Nickname     string `json:"nickname"`
	Gender       string `json:"gender"`
	FigureURLQQ1 string `json:"figureurl_qq_1"` // a picture of 40 pixels
	FigureURLQQ2 string `json:"figureurl_qq_2"` // a picture of 100 pixels; empty: none
}
