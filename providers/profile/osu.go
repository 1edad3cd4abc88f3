package profile

// Osu is what osu! says about a player.
type Osu struct {
	AvatarURL     string     `json:"avatar_url"`
	CountryCode   string     `json:"country_code"`
	DefaultGroup  string     `json:"default_group"`
	ID            int64      `json:"id"`
	IsActive      bool       `json:"is_active"`
	IsBot         bool       `json:"is_bot"`
	IsDeleted     bool       `json:"is_deleted"`
	IsOnline      bool       `json:"is_online"`
	IsSupporter   bool       `json:"is_supporter"`
	LastVisit     string     `json:"last_visit"`
	PmFriendsOnly bool       `json:"pm_friends_only"`
	ProfileColour string     `json:"profile_colour"`
	Username      string     `json:"username"` // may change and be taken over by another person
	Discord       string     `json:"discord"`  // a name there
	HasSupported  bool       `json:"has_supported"`
	Interests     string     `json:"interests"`
	JoinDate      string     `json:"join_date"`
	Kudosu        OsuKudosu  `json:"kudosu"`
	Location      string     `json:"location"`
	MaxBlocks     int64      `json:"max_blocks"`
	MaxFriends    int64      `json:"max_friends"`
	Occupation    string     `json:"occupation"`
	Playmode      string     `json:"playmode"`
	Playstyle     []string   `json:"playstyle"`
	PostCount     int64      `json:"post_count"`
	ProfileOrder  []string   `json:"profile_order"`
	Title         string     `json:"title"`
	TitleURL      string     `json:"title_url"`
	Twitter       string     `json:"twitter"` // a name there
	Website       string     `json:"website"`
	Country       OsuCountry `json:"country"`
	Cover         OsuCover   `json:"cover"`
	IsRestricted  bool       `json:"is_restricted"`
}

// OsuKudosu counts the thanks of other players.
type OsuKudosu struct {
	Available int64 `json:"available"`
	Total     int64 `json:"total"`
}

// OsuCountry is where a player lives.
type OsuCountry struct {
	Code string `json:"code"`
	Name string `json:"name"`
}

// OsuCover is the picture on top of a profile.
type OsuCover struct {
	CustomURL string `json:"custom_url"`
	URL       string `json:"url"`
	ID        int64  `json:"id"`
}
