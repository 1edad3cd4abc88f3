package profile

// Zoom is what Zoom says about a person.
type Zoom struct {
	ID                 string   `json:"id"`
	FirstName          string   `json:"first_name"`
	LastName           string   `json:"last_name"`
	Email              string   `json:"email"`
	Type               int64    `json:"type"` // 1: basic, 2: licensed
	RoleName           string   `json:"role_name"`
	PMI                int64    `json:"pmi"` // personal meeting id
	UsePMI             bool     `json:"use_pmi"`
	VanityURL          string   `json:"vanity_url"`
	PersonalMeetingURL string   `json:"personal_meeting_url"`
	Timezone           string   `json:"timezone"`
	Verified           Flag     `json:"verified"` // the e-mail
	Dept               string   `json:"dept"`
	CreatedAt          string   `json:"created_at"`
	LastLoginTime      string   `json:"last_login_time"`
	LastClientVersion  string   `json:"last_client_version"`
	PicURL             string   `json:"pic_url"`
	HostKey            string   `json:"host_key"`
	JID                string   `json:"jid"`
	GroupIDs           []string `json:"group_ids"`
	IMGroupIDs         []string `json:"im_group_ids"`
	AccountID          string   `json:"account_id"`
	Language           string   `json:"language"`
	PhoneCountry       string   `json:"phone_country"`
	PhoneNumber        string   `json:"phone_number"`
	Status             string   `json:"status"`
}
