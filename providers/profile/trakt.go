package profile

// Trakt is what Trakt says about a person.
type Trakt struct {
	Username string      `json:"username"` // may change and be taken over by another person
	Private  bool        `json:"private"`
	Name     string      `json:"name"`
	VIP      bool        `json:"vip"`
	VIPEP    bool        `json:"vip_ep"`
	IDs      TraktIDs    `json:"ids"`
	JoinedAt string      `json:"joined_at"`
	Location string      `json:"location"`
	About    string      `json:"about"`
	Gender   string      `json:"gender"`
	Age      int64       `json:"age"`
	Images   TraktImages `json:"images"`
}

// TraktIDs are what Trakt knows a person by.
type TraktIDs struct {
	Slug string `json:"slug"` // made from the user name, and changes with it
	UUID string `json:"uuid"`
}

// TraktImages are pictures, which Trakt does not want linked to.
type TraktImages struct {
	Avatar TraktAvatar `json:"avatar"`
}

// TraktAvatar is the picture of a person.
type TraktAvatar struct {
	Full string `json:"full"`
}
