package profile

// Threads is what Threads says about a person: the fields that were asked for.
type Threads struct {
	ID                string `json:"id"`
	Username          string `json:"username"` // may change and be taken over by another person
	Name              string `json:"name"`
	ProfilePictureURL string `json:"threads_profile_picture_url"`
	Biography         string `json:"threads_biography"`
	IsVerified        bool   `json:"is_verified"` // the badge
}
