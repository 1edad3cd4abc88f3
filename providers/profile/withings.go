package profile

// Withings is what Withings says about a person: an id, which is a number or text.
type Withings struct {
	UserID any `json:"userid"`
}
