package profile

// Steam is what Steam says of a player. Members from RealName on are there only
// where the profile is public.
type Steam struct {
	SteamID                  string `json:"steamid"`
	CommunityVisibilityState int64  `json:"communityvisibilitystate"` // 3: public
	ProfileState             int64  `json:"profilestate"`             // 1: set up
	PersonaName              string `json:"personaname"`
	CommentPermission        int64  `json:"commentpermission"`
	ProfileURL               string `json:"profileurl"`
	Avatar                   string `json:"avatar"`       // 32 pixels
	AvatarMedium             string `json:"avatarmedium"` // 64 pixels
	AvatarFull               string `json:"avatarfull"`   // 184 pixels
	AvatarHash               string `json:"avatarhash"`
	LastLogoff               int64  `json:"lastlogoff"` // seconds since 1970
	PersonaState             int64  `json:"personastate"`
	RealName                 string `json:"realname"`
	PrimaryClanID            string `json:"primaryclanid"`
	TimeCreated              int64  `json:"timecreated"` // seconds since 1970
	PersonaStateFlags        int64  `json:"personastateflags"`
	LocCountryCode           string `json:"loccountrycode"`
	LocStateCode             string `json:"locstatecode"`
	LocCityID                int64  `json:"loccityid"`
}
