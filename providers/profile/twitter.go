package profile

// Twitter is what X says about a person, in its envelope.
type Twitter struct {
	Data     TwitterUser     `json:"data"`
	Includes TwitterIncludes `json:"includes"`
}

// TwitterUser is the person. Only the fields that were asked for are there.
type TwitterUser struct {
	ID              string          `json:"id"`
	Name            string          `json:"name"`
	ConfirmedEmail  string          `json:"confirmed_email"` // needs the scope users.email and the field to be asked for
	Username        string          `json:"username"`        // may change and be taken over by another person
	Location        string          `json:"location"`
	Entities        TwitterEntities `json:"entities"`
	Verified        bool            `json:"verified"` // the badge
	Description     string          `json:"description"`
	URL             string          `json:"url"`
	ProfileImageURL string          `json:"profile_image_url"`
	Protected       bool            `json:"protected"`
	PinnedTweetID   string          `json:"pinned_tweet_id"`
	CreatedAt       string          `json:"created_at"`
	Email           string          `json:"email"`
}

// TwitterIncludes holds what other fields refer to.
type TwitterIncludes struct {
	Tweets []TwitterTweet `json:"tweets"`
}

// TwitterEntities are the parts of the texts of a profile.
type TwitterEntities struct {
	URL         TwitterURLs        `json:"url"`
	Description TwitterDescription `json:"description"`
}

// TwitterTweet is a pinned post.
type TwitterTweet struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// TwitterURLs are the links of a text.
type TwitterURLs struct {
	URLs []TwitterURL `json:"urls"`
}

// TwitterDescription are the parts of the text about a person.
type TwitterDescription struct {
	Hashtags []TwitterHashtag `json:"hashtags"`
}

// TwitterURL is a link, and where in the text it stands.
type TwitterURL struct {
	Start       int64  `json:"start"`
	End         int64  `json:"end"`
	URL         string `json:"url"`
	ExpandedURL string `json:"expanded_url"`
	DisplayURL  string `json:"display_url"`
}

// TwitterHashtag is a word with #, and where in the text it stands.
type TwitterHashtag struct {
	Start int64  `json:"start"`
	End   int64  `json:"end"`
	Tag   string `json:"tag"`
}
