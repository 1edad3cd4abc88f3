package latchkey

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/jwt"
)

// What the cookie of a check says, sealed.

// checkCookie is the newest sign-in, in the words of Auth.js, and those before.
type checkCookie struct {
	pendingCheck
	purpose *Check // nil: made by Auth.js
	earlier []pendingCheck
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
	var room [16]jsonscan.Member
	members, err := jsonscan.Members(payload, room[:0])
	if err != nil || jwtclaims.Check(members, now, checkMaxAge) != nil {
		return nil
	}
	var read checkCookie
	if !read.read(members) || len(read.earlier) >= mostFlows {
		return nil
	}
	if read.purpose != nil && *read.purpose != check {
		return nil
	}
	if until, ok := jwtclaims.Time(members, "exp"); ok && read.Expires == 0 { // made by Auth.js
		read.Expires = until.Unix()
	}
	return append([]pendingCheck{read.pendingCheck}, read.earlier...)
}

// read takes what members say, and false where that is of another type.
// encoding/json takes longer for this than opening the cookie does.
func (c *checkCookie) read(members []jsonscan.Member) bool {
	for _, m := range members {
		ok := true
		switch string(m.Key) {
		case "purpose":
			var purpose string
			purpose, ok = m.Text()
			c.purpose = (*Check)(&purpose)
		case "earlier": // few begin a sign-in while another is under way
			ok = json.Unmarshal(m.Raw, &c.earlier) == nil
		default:
			ok = c.pendingCheck.read(m)
		}
		if !ok {
			return false
		}
	}
	return true
}

func (h *pendingCheck) read(m jsonscan.Member) (ok bool) {
	ok = true
	switch string(m.Key) {
	case "id":
		h.ID, ok = m.Text()
	case "value":
		h.Value, ok = m.Text()
	case "provider":
		h.Provider, ok = m.Text()
	case "until":
		h.Expires, ok = wholeNumber(m)
	case "callbackUrl":
		h.CallbackURL, ok = m.Text()
	case "maxAge":
		var age int64
		age, ok = wholeNumber(m)
		h.MaxAge = &age
	case "posted":
		h.CrossSite = string(m.Raw) == "true"
	case "fresh":
		h.Fresh = string(m.Raw) == "true"
	case "user":
		h.UserID, ok = m.Text()
	case "session":
		h.SessionID, ok = m.Text()
	case "since":
		h.Since, ok = wholeNumber(m)
	}
	return ok
}

func wholeNumber(m jsonscan.Member) (int64, bool) {
	n, err := strconv.ParseInt(string(m.Raw), 10, 64)
	return n, err == nil
}

func sealChecks(codec *jwt.Codec, check Check, held []pendingCheck, now time.Time) (string, error) {
	text := jsonscan.AppendText(append(appendCheck(make([]byte, 0, 512), &held[0]), `"purpose":`...), string(check))
	if len(held) > 1 {
		text = append(text, `,"earlier":[`...)
		for i := range held[1:] {
			text = appendCheck(text, &held[1+i])
			text[len(text)-1] = '}'
			text = append(text, ',')
		}
		text[len(text)-1] = ']'
	}
	var room [16]jsonscan.Member
	members, err := jsonscan.Members(append(text, '}'), room[:0])
	if err != nil {
		return "", err
	}
	return codec.Seal(jwtclaims.AppendIssued(make([]byte, 0, 768), members, now, checkMaxAge))
}

// appendCheck writes h as the beginning of an object: after each member is a
// comma.
func appendCheck(b []byte, h *pendingCheck) []byte {
	b = append(b, '{')
	b = appendFilled(b, "id", h.ID)
	b = append(jsonscan.AppendText(append(b, `"value":`...), h.Value), ',')
	b = append(jsonscan.AppendText(append(b, `"provider":`...), h.Provider), ',')
	b = appendNumber(b, "until", h.Expires)
	b = appendFilled(b, "callbackUrl", h.CallbackURL)
	if h.MaxAge != nil {
		b = append(strconv.AppendInt(append(b, `"maxAge":`...), *h.MaxAge, 10), ',')
	}
	if h.CrossSite {
		b = append(b, `"posted":true,`...)
	}
	if h.Fresh {
		b = append(b, `"fresh":true,`...)
	}
	b = appendFilled(b, "user", h.UserID)
	b = appendFilled(b, "session", h.SessionID)
	return appendNumber(b, "since", h.Since)
}

// appendFilled leaves an empty member out.
func appendFilled(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	b = append(jsonscan.AppendText(b, name), ':')
	return append(jsonscan.AppendText(b, text), ',')
}

// appendNumber leaves 0 out.
func appendNumber(b []byte, name string, n int64) []byte {
	if n == 0 {
		return b
	}
	b = append(jsonscan.AppendText(b, name), ':')
	return append(strconv.AppendInt(b, n, 10), ',')
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
