package profile

// Meetup is what Meetup answers to the query for oneself.
type Meetup struct {
	Data MeetupData `json:"data"`
}

// MeetupData is the envelope of a GraphQL answer.
type MeetupData struct {
	Self MeetupMember `json:"self"`
}

// MeetupMember is the person.
type MeetupMember struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}
