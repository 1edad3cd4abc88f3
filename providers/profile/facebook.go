package profile

// Facebook is what Facebook says about a person.
type Facebook struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Email   string `json:"email"`
	Picture struct {
		Data struct {
			Height       int64  `json:"height"`
			IsSilhouette bool   `json:"is_silhouette"`
			URL          string `json:"url"`
			Width        int64  `json:"width"`
		} `json:"data"`
	} `json:"picture"`
}
