package profile

// VK is what VK says about a person. Only the fields that were asked for are there, and the e-mail if the person gave it. Numbers that say yes or no are 1 or 0.
type VK struct {
	ID                     int64             `json:"id"`
	FirstName              string            `json:"first_name"`
	LastName               string            `json:"last_name"`
	Photo100               string            `json:"photo_100"` // URL of a picture of 100 pixels
	CanAccessClosed        bool              `json:"can_access_closed"`
	IsClosed               bool              `json:"is_closed"`
	Deactivated            string            `json:"deactivated"` // deleted or banned; empty: neither
	Sex                    int64             `json:"sex"`         // 1: female, 2: male
	ScreenName             string            `json:"screen_name"` // may change and be taken over by another person
	Photo50                string            `json:"photo_50"`
	Online                 int64             `json:"online"`
	OnlineMobile           int64             `json:"online_mobile"`
	OnlineApp              int64             `json:"online_app"`
	Verified               int64             `json:"verified"`
	Trending               int64             `json:"trending"`
	FriendStatus           int64             `json:"friend_status"`
	FirstNameNom           string            `json:"first_name_nom"`
	FirstNameGen           string            `json:"first_name_gen"`
	FirstNameDat           string            `json:"first_name_dat"`
	FirstNameAcc           string            `json:"first_name_acc"`
	FirstNameIns           string            `json:"first_name_ins"`
	FirstNameAbl           string            `json:"first_name_abl"`
	LastNameNom            string            `json:"last_name_nom"`
	LastNameGen            string            `json:"last_name_gen"`
	LastNameDat            string            `json:"last_name_dat"`
	LastNameAcc            string            `json:"last_name_acc"`
	LastNameIns            string            `json:"last_name_ins"`
	LastNameAbl            string            `json:"last_name_abl"`
	Nickname               string            `json:"nickname"`
	MaidenName             string            `json:"maiden_name"`
	Domain                 string            `json:"domain"`
	Bdate                  string            `json:"bdate"`
	City                   VKCity            `json:"city"`
	Country                VKCountry         `json:"country"`
	Timezone               int64             `json:"timezone"`
	Photo200               string            `json:"photo_200"`
	PhotoMax               string            `json:"photo_max"`
	Photo200Orig           string            `json:"photo_200_orig"`
	Photo400Orig           string            `json:"photo_400_orig"`
	PhotoMaxOrig           string            `json:"photo_max_orig"`
	PhotoID                string            `json:"photo_id"`
	HasPhoto               int64             `json:"has_photo"`
	HasMobile              int64             `json:"has_mobile"`
	IsFriend               int64             `json:"is_friend"`
	CanPost                int64             `json:"can_post"`
	CanSeeAllPosts         int64             `json:"can_see_all_posts"`
	CanSeeAudio            int64             `json:"can_see_audio"`
	Connections            VKConnections     `json:"connections"`
	Photo400               string            `json:"photo_400"`
	WallDefault            string            `json:"wall_default"`
	Interests              string            `json:"interests"`
	Books                  string            `json:"books"`
	TV                     string            `json:"tv"`
	Quotes                 string            `json:"quotes"`
	About                  string            `json:"about"`
	Games                  string            `json:"games"`
	Movies                 string            `json:"movies"`
	Activities             string            `json:"activities"`
	Music                  string            `json:"music"`
	CanWritePrivateMessage int64             `json:"can_write_private_message"`
	CanSendFriendRequest   int64             `json:"can_send_friend_request"`
	Contacts               VKContacts        `json:"contacts"`
	Site                   string            `json:"site"`
	StatusAudio            VKStatusAudio     `json:"status_audio"`
	Status                 string            `json:"status"`
	LastSeen               VKLastSeen        `json:"last_seen"`
	Exports                VKExports         `json:"exports"`
	CropPhoto              VKCropPhoto       `json:"crop_photo"`
	FollowersCount         int64             `json:"followers_count"`
	Blacklisted            int64             `json:"blacklisted"`
	BlacklistedByMe        int64             `json:"blacklisted_by_me"`
	IsFavorite             int64             `json:"is_favorite"`
	IsHiddenFromFeed       int64             `json:"is_hidden_from_feed"`
	CommonCount            int64             `json:"common_count"`
	Occupation             VKOccupation      `json:"occupation"`
	Career                 VKCareer          `json:"career"`
	Military               VKMilitary        `json:"military"`
	Education              VKEducation       `json:"education"`
	HomeTown               string            `json:"home_town"`
	Relation               int64             `json:"relation"`
	RelationPartner        VKRelationPartner `json:"relation_partner"`
	Personal               VKPersonal        `json:"personal"`
	Universities           []VKUniversity    `json:"universities"`
	Schools                []VKSchool        `json:"schools"`
	Relatives              []VKRelative      `json:"relatives"`
	Counters               VKCounters        `json:"counters"`
	IsNoIndex              int64             `json:"is_no_index"`
	Email                  string            `json:"email"` // of the token answer
}

// VKCity is where the user lives.
type VKCity struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
}

// VKCountry is where the user lives.
type VKCountry struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
}

// VKConnections are names at other services.
type VKConnections struct {
	Facebook    string `json:"facebook"`
	Skype       string `json:"skype"`
	Twitter     string `json:"twitter"`
	Livejournal string `json:"livejournal"`
	Instagram   string `json:"instagram"`
}

// VKContacts are telephone numbers.
type VKContacts struct {
	MobilePhone string `json:"mobile_phone"`
	HomePhone   string `json:"home_phone"`
}

// VKStatusAudio is what the user listens to.
type VKStatusAudio struct {
	AccessKey string `json:"access_key"`
	Artist    string `json:"artist"`
	ID        int64  `json:"id"`
	OwnerID   int64  `json:"owner_id"`
	Title     string `json:"title"`
	URL       string `json:"url"`
	Duration  int64  `json:"duration"`
	Date      int64  `json:"date"`
	AlbumID   int64  `json:"album_id"`
	GenreID   int64  `json:"genre_id"`
	Performer string `json:"performer"`
}

// VKLastSeen is when the user was last there.
type VKLastSeen struct {
	Platform int64 `json:"platform"`
	Time     int64 `json:"time"`
}

// VKExports says what is posted elsewhere too.
type VKExports struct {
	Facebook    int64 `json:"facebook"`
	Livejournal int64 `json:"livejournal"`
	Twitter     int64 `json:"twitter"`
	Instagram   int64 `json:"instagram"`
}

// VKCropPhoto is how the picture was cut.
type VKCropPhoto struct {
	Photo VKPhoto `json:"photo"`
	Crop  VKCrop  `json:"crop"`
	Rect  VKRect  `json:"rect"`
}

// VKOccupation is what the user does now.
type VKOccupation struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"`
}

// VKCareer is a job.
type VKCareer struct {
	GroupID   int64  `json:"group_id"`
	Company   string `json:"company"`
	CountryID int64  `json:"country_id"`
	CityID    int64  `json:"city_id"`
	CityName  string `json:"city_name"`
	From      int64  `json:"from"`
	Until     int64  `json:"until"`
	Position  string `json:"position"`
}

// VKMilitary is a time in the army.
type VKMilitary struct {
	CountryID int64  `json:"country_id"`
	From      int64  `json:"from"`
	Unit      string `json:"unit"`
	UnitID    int64  `json:"unit_id"`
	Until     int64  `json:"until"`
}

// VKEducation is the last university.
type VKEducation struct {
	University     int64  `json:"university"`
	UniversityName string `json:"university_name"`
	Faculty        int64  `json:"faculty"`
	FacultyName    string `json:"faculty_name"`
	Graduation     int64  `json:"graduation"`
}

// VKRelationPartner is a partner.
type VKRelationPartner struct {
	Deactivated     string `json:"deactivated"`
	FirstName       string `json:"first_name"`
	Hidden          int64  `json:"hidden"`
	ID              int64  `json:"id"`
	LastName        string `json:"last_name"`
	CanAccessClosed bool   `json:"can_access_closed"`
	IsClosed        bool   `json:"is_closed"`
}

// VKPersonal is what the user thinks.
type VKPersonal struct {
	Alcohol    int64    `json:"alcohol"`
	InspiredBy string   `json:"inspired_by"`
	Langs      []string `json:"langs"`
	LifeMain   int64    `json:"life_main"`
	PeopleMain int64    `json:"people_main"`
	Political  int64    `json:"political"`
	Religion   string   `json:"religion"`
	Smoking    int64    `json:"smoking"`
}

// VKUniversity is a university.
type VKUniversity struct {
	Chair             int64  `json:"chair"`
	ChairName         string `json:"chair_name"`
	City              int64  `json:"city"`
	Country           int64  `json:"country"`
	EducationForm     string `json:"education_form"`
	EducationStatus   string `json:"education_status"`
	Faculty           int64  `json:"faculty"`
	FacultyName       string `json:"faculty_name"`
	Graduation        int64  `json:"graduation"`
	ID                int64  `json:"id"`
	Name              string `json:"name"`
	UniversityGroupID int64  `json:"university_group_id"`
}

// VKSchool is a school.
type VKSchool struct {
	City          int64  `json:"city"`
	Class         string `json:"class"`
	Country       int64  `json:"country"`
	ID            string `json:"id"`
	Name          string `json:"name"`
	Type          int64  `json:"type"`
	TypeStr       string `json:"type_str"`
	YearFrom      int64  `json:"year_from"`
	YearGraduated int64  `json:"year_graduated"`
	YearTo        int64  `json:"year_to"`
	Speciality    string `json:"speciality"`
}

// VKRelative is a relative.
type VKRelative struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"`
}

// VKCounters counts what the user has.
type VKCounters struct {
	Albums        int64 `json:"albums"`
	Videos        int64 `json:"videos"`
	Audios        int64 `json:"audios"`
	Photos        int64 `json:"photos"`
	Notes         int64 `json:"notes"`
	Friends       int64 `json:"friends"`
	Groups        int64 `json:"groups"`
	OnlineFriends int64 `json:"online_friends"`
	MutualFriends int64 `json:"mutual_friends"`
	UserVideos    int64 `json:"user_videos"`
	Followers     int64 `json:"followers"`
	Pages         int64 `json:"pages"`
}

// VKPhoto is a picture.
type VKPhoto struct {
	AccessKey  string    `json:"access_key"`
	AlbumID    int64     `json:"album_id"`
	Date       int64     `json:"date"`
	Height     int64     `json:"height"`
	ID         int64     `json:"id"`
	Images     []VKImage `json:"images"`
	Lat        int64     `json:"lat"`
	Long       int64     `json:"long"`
	OwnerID    int64     `json:"owner_id"`
	Photo256   string    `json:"photo_256"`
	CanComment int64     `json:"can_comment"`
	Place      string    `json:"place"`
	PostID     int64     `json:"post_id"`
	Sizes      []VKSize  `json:"sizes"`
	Text       string    `json:"text"`
	UserID     int64     `json:"user_id"`
	Width      int64     `json:"width"`
	HasTags    bool      `json:"has_tags"`
}

// VKCrop is the part of a picture that is shown, in percent of its sides.
type VKCrop struct {
	X  int64 `json:"x"`
	Y  int64 `json:"y"`
	X2 int64 `json:"x2"`
	Y2 int64 `json:"y2"`
}

// VKRect is the part of a picture that is shown in miniature, in percent of its sides.
type VKRect struct {
	X  int64 `json:"x"`
	Y  int64 `json:"y"`
	X2 int64 `json:"x2"`
	Y2 int64 `json:"y2"`
}

// VKImage is a copy of a picture.
type VKImage struct {
	Height int64  `json:"height"`
	Type   string `json:"type"`
	URL    string `json:"url"`
	Width  int64  `json:"width"`
}

// VKSize is a copy of a picture, in older answers.
type VKSize struct {
	Height int64  `json:"height"`
	URL    string `json:"url"`
	Src    string `json:"src"`
	Type   string `json:"type"`
	Width  int64  `json:"width"`
}
