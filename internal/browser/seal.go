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
	var read checkCookie
	if json.Unmarshal(payload, &read) != nil || len(read.Earlier) >= maxFlows {
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

// sealChecks returns the sealed content of the cookie of a check. held has at least one
// value, the newest first.
func sealChecks(codec *jwt.Codec, check Check, held []CheckValue, now time.Time) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // which would make URLs longer
	if err := encoder.Encode(checkCookie{held[0], &check, held[1:]}); err != nil {
		return "", err
	}
	var room [12]jsonscan.Member
	members, err := jsonscan.Members(text.Bytes(), room[:0])
	if err != nil {
		return "", err
	}
	return codec.Seal(jwtclaims.AppendIssued(nil, members, now, CheckMaxAge))
}

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
