package profile

// Figma is what Figma says about a person.
type Figma struct {
	ID     string `json:"id"`
	Email  string `json:"email"`
	Handle string `json:"handle"`
	ImgURL string `json:"img_url"`
}
