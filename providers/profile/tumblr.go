package profile

// Tumblr is what Tumblr says about a person, in its envelope.
type Tumblr struct {
	Meta     TumblrMeta     `json:"meta"`
	Response TumblrResponse `json:"response"`
}

// TumblrMeta says how the call went.
type TumblrMeta struct {
	Status int64  `json:"status"`
	Msg    string `json:"msg"`
}

// TumblrResponse holds the person.
type TumblrResponse struct {
	User TumblrUser `json:"user"`
}

// TumblrUser is the person.
type TumblrUser struct {
	Name              string       `json:"name"` // of the primary blog; may change and be taken over by another person
	Likes             int64        `json:"likes"`
	Following         int64        `json:"following"`
	DefaultPostFormat string       `json:"default_post_format"`
	Blogs             []TumblrBlog `json:"blogs"`
}

// TumblrBlog is a blog that they write.
type TumblrBlog struct {
	Name      string `json:"name"`
	Title     string `json:"title"`
	URL       string `json:"url"`
	UUID      string `json:"uuid"`
	Primary   bool   `json:"primary"`
	Followers int64  `json:"followers"`
	Type      string `json:"type"` // public or private
}
