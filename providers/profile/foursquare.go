package profile

// Foursquare is what Foursquare says about a person.
type Foursquare struct {
	Meta struct {
		Code      int64  `json:"code"`
		RequestID string `json:"requestId"`
	} `json:"meta"`
	Response struct {
		User struct {
			ID        string `json:"id"`
			FirstName string `json:"firstName"`
			LastName  string `json:"lastName"`
			Photo     struct {
				Prefix string `json:"prefix"`
				Suffix string `json:"suffix"`
			} `json:"photo"`
			Contact struct {
				Email string `json:"email"`
			} `json:"contact"`
			HomeCity string `json:"homeCity"`
		} `json:"user"`
	} `json:"response"`
}
