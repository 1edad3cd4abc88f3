package weburl

import (
	"encoding/base64"
	"net/http"
)

// Limits in bytes of a picture that people can choose at their provider, and that a store
// keeps.
const (
	longestPicture = 2 << 10  // its URL
	longestPhoto   = 48 << 10 // the picture itself
)

// Picture returns the URL that may be shown as a person's picture: a data URL of photo,
// or, if that is empty, image if it is an http(s) URL. Other schemes of a profile could
// run as a script or name a file. Picture returns "" if there is no such picture, or if
// photo or image is too long.
func Picture(image string, photo []byte) string {
	switch {
	case len(photo) > longestPhoto || len(image) > longestPicture:
		return ""
	case len(photo) > 0:
		return "data:" + photoType(photo) + ";base64," + base64.StdEncoding.EncodeToString(photo)
	case IsHTTP(image):
		return image
	}
	return ""
}

// photoType returns the type of a PNG, GIF or WebP, and image/jpeg for all other bytes:
// none of these types runs a script.
func photoType(photo []byte) string {
	switch t := http.DetectContentType(photo); t {
	case "image/png", "image/gif", "image/webp":
		return t
	}
	return "image/jpeg"
}
