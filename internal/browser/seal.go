package browser

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/jwt"
)

// checkCookie is the content of a check's cookie: the newest sign-in, in the words
// of Auth.js, and those before.
type checkCookie struct {
	CheckValue
	Purpose *Check       `json:"purpose"` // nil: made by Auth.js
	Earlier []CheckValue `json:"earlier,omitempty"`
}

// openedChecks is a cookie that was opened.
type openedChecks struct {
	check Check
	value string
	held  []CheckValue
}

// openChecks returns the values in the cookie of a check, newest first. It returns nil if
// the cookie does not open, has expired, or is of another check. A value in it may have
// expired.
func openChecks(codec *jwt.Codec, check Check, value string, now time.Time) []CheckValue {
	payload, err := codec.Open(value)
	if err != nil {
		return nil
	}
	var room [12]jsonscan.Member // spares the slice its growth
	members, err := jsonscan.Members(payload, room[:0])
	if err != nil || jwtclaims.Check(members, now, CheckMaxAge) != nil {
		return nil
	}
	read, err := readChecks(payload, members)
	if err != nil || len(read.Earlier) >= maxFlows {
		return nil
	}
	if read.Purpose != nil && *read.Purpose != check {
		return nil
	}
	if until, ok := jwtclaims.Time(members, "exp"); ok && read.Expires == 0 { // made by Auth.js
		read.Expires = until.Unix()
	}
	return append([]CheckValue{read.CheckValue}, read.Earlier...)
}

// readChecks returns the content of a cookie, whose members the caller has found. It
// returns an error if a member has another type.
func readChecks(payload []byte, members []jsonscan.Member) (*checkCookie, error) {
	read := &checkCookie{}
	if read.setUsual(members) {
		return read, nil
	}
	read = &checkCookie{}
	return read, json.Unmarshal(payload, read)
}

// setUsual sets c from the members that the cookie of a sign-in has if it began without a
// session. It takes a third of the time of encoding/json. It returns false for a member that
// it does not know, and for one of another type. It may have set a part of c then, and the
// caller has to decode the cookie by encoding/json.
func (c *checkCookie) setUsual(members []jsonscan.Member) bool {
	for _, m := range members {
		ok := true
		switch string(m.Key) {
		case "id":
			c.ID, ok = m.Text()
		case "value":
			c.Value, ok = m.Text()
		case "provider":
			c.Provider, ok = m.Text()
		case "until":
			c.Expires, ok = m.Int()
		case "callbackUrl":
			c.CallbackURL, ok = m.Text()
		case "begun":
			c.Begun, ok = m.Int()
		case "sent":
			ok = json.Unmarshal(m.Raw, &c.Sent) == nil
		case "purpose":
			var purpose string
			purpose, ok = m.Text()
			c.Purpose = (*Check)(&purpose)
		case "iat", "exp", "jti": // see [jwtclaims.Check]
		default:
			return false
		}
		if !ok {
			return false
		}
	}
	return true
}

// sealChecks returns the sealed content of the cookie of a check. held has at least one
// value, the newest first.
func sealChecks(codec *jwt.Codec, check Check, held []CheckValue, now time.Time) (string, error) {
	var text bytes.Buffer
	text.Grow(usualChecks)
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // which would make URLs longer
	err := encoder.Encode(&struct {
		checkCookie
		jwtclaims.Issued
	}{checkCookie{held[0], &check, held[1:]}, jwtclaims.Issue(now, CheckMaxAge)})
	if err != nil {
		return "", err
	}
	return codec.Seal(bytes.TrimSuffix(text.Bytes(), []byte{'\n'}))
}

// usualChecks is more bytes than the content of a check's cookie has as long as one
// sign-in is under way.
const usualChecks = 768

// shortenChecks returns held without its longest callback URL, which is worth less than a
// sign-in. If there is no callback URL, it returns held without the oldest sign-in, or
// nil if that is the only one. It does not change held, which must not be empty.
func shortenChecks(held []CheckValue) []CheckValue {
	longest := 0
	for i, h := range held {
		if len(h.CallbackURL) > len(held[longest].CallbackURL) {
			longest = i
		}
	}
	switch {
	case held[longest].CallbackURL != "":
		held = slices.Clone(held)
		held[longest].CallbackURL = ""
		return held
	case len(held) > 1:
		return held[:len(held)-1]
	}
	return nil
}
