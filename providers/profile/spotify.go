package profile

// Spotify is what Spotify says about a person.
type Spotify struct {
	ID           string           `json:"id"`
	DisplayName  string           `json:"display_name"`
	Email        string           `json:"email"`   // Spotify has not checked it
	Country      string           `json:"country"` // needs the scope user-read-private
	Product      string           `json:"product"` // such as premium; needs the scope user-read-private
	Type         string           `json:"type"`
	URI          string           `json:"uri"`
	Href         string           `json:"href"`
	Images       []SpotifyImage   `json:"images"`
	ExternalURLs SpotifyURLs      `json:"external_urls"`
	Followers    SpotifyFollowers `json:"followers"`
}

// SpotifyImage is a picture. Sizes are pixels, 0 where they are unknown.
type SpotifyImage struct {
	URL    string `json:"url"`
	Height int64  `json:"height"`
	Width  int64  `json:"width"`
}

// SpotifyURLs are pages about a person.
type SpotifyURLs struct {
	Spotify string `json:"spotify"`
}

// SpotifyFollowers counts them.
type SpotifyFollowers struct {
	Total int64 `json:"total"`
}
