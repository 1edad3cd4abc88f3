package profile

// PingID is what an ID token of PingOne says.
type PingID struct {
	OpenID
	AuthContext  string     `json:"acr"`
	AMR          StringList `json:"amr"`
	SessionID    string     `json:"sid"`
	Environment  string     `json:"env"`
	Organization string     `json:"org"`
	Region       string     `json:"p1.region"`
}
