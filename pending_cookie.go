package latchkey

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/jwt"
)

// What the cookie of a check says, sealed.

// checkCookie is the newest sign-in, in the words of Auth.js, and those before.
type checkCookie struct {
	pendingCheck
	Purpose *Check         `json:"purpose"` // nil: made by Auth.js
	Earlier []pendingCheck `json:"earlier,omitempty"`
}

// openedChecks is a cookie that need not be opened again.
type openedChecks struct {
	check Check
	value string
	held  []pendingCheck
}

// openChecks reads the cookie of a check. One of another check, of another time
// or of somebody else holds nothing.
func openChecks(codec *jwt.Codec, check Check, value string, now time.Time) []pendingCheck {
	payload, err := codec.Open(value)
	if err != nil {
		return nil
	}
	members, err := jsonscan.Members(payload, nil)
	if err != nil || jwtclaims.Check(members, now, checkMaxAge) != nil {
		return nil
	}
	var read checkCookie
	if json.Unmarshal(payload, &read) != nil || len(read.Earlier) >= mostFlows {
		return nil
	}
	if read.Purpose != nil && *read.Purpose != check {
		return nil
	}
	if until, ok := jwtclaims.Time(members, "exp"); ok && read.Expires == 0 { // made by Auth.js
		read.Expires = until.Unix()
	}
	return append([]pendingCheck{read.pendingCheck}, read.Earlier...)
}

// sealChecks writes the cookie of a check. held has at least one value.
func sealChecks(codec *jwt.Codec, check Check, held []pendingCheck, now time.Time) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // which would make URLs longer
	if err := encoder.Encode(checkCookie{held[0], &check, held[1:]}); err != nil {
		return "", err
	}
	members, err := jsonscan.Members(text.Bytes(), nil)
	if err != nil {
		return "", err
	}
	return codec.Seal(jwtclaims.AppendIssued(nil, members, now, checkMaxAge))
}

// shortenChecks leaves out the longest callback URL, since a landing is worth
// less than a sign-in, or else the oldest sign-in. nil: nothing can go.
func shortenChecks(held []pendingCheck) []pendingCheck {
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
