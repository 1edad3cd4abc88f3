package profile

// Discord is what Discord says about a person.
type Discord struct {
	ID               string `json:"id"`
	Username         string `json:"username"`      // may change and be taken over by another person
	Discriminator    string `json:"discriminator"` // "0" for all but old user names
	GlobalName       string `json:"global_name"`
	Avatar           string `json:"avatar"`
	Bot              bool   `json:"bot"`
	System           bool   `json:"system"`
	MFAEnabled       bool   `json:"mfa_enabled"`
	Banner           string `json:"banner"`
	AccentColor      int64  `json:"accent_color"`
	Locale           string `json:"locale"`
	Verified         bool   `json:"verified"` // whether the e-mail was proven
	Email            string `json:"email"`
	Flags            int64  `json:"flags"`
	PremiumType      int64  `json:"premium_type"`
	PublicFlags      int64  `json:"public_flags"`
	DisplayName      string `json:"display_name"`
	AvatarDecoration string `json:"avatar_decoration"`
	BannerColor      string `json:"banner_color"`
}
