package profile

// Medium is what Medium says about a person, in its envelope.
type Medium struct {
	Data MediumUser `json:"data"`
}

// MediumUser is the person.
type MediumUser struct {
	ID       string `json:"id"`
	Username string `json:"username"` // may change and be taken over by another person
	Name     string `json:"name"`
	URL      string `json:"url"`
	ImageURL string `json:"imageUrl"`
}
