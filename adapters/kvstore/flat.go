package kvstore

import (
	"slices"
	"strconv"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
)

// Records that every request reads are read without encoding/json, as long as
// they are of the form that this package writes: its reflection takes half as long
// as Redis does to answer.

// flat is a value of texts and times.
type flat interface {
	// take sets a member. It returns false for one that is left to encoding/json.
	take(m jsonscan.Member) bool
}

// readFlat reads raw into v, which has the zero value, as encoding/json does. It returns
// false for a form that is left to encoding/json; some members of v may be set then.
func readFlat(raw []byte, v flat) bool {
	var room [16]jsonscan.Member
	members, err := jsonscan.DistinctMembers(raw, room[:0])
	if err != nil {
		return false
	}
	for _, m := range members {
		if !v.take(m) {
			return false
		}
	}
	return true
}

// takeText stores the text of m in *to. It returns false if m is no text; *to is not to
// be used then.
func takeText[T ~string](to *T, m jsonscan.Member) bool {
	text, ok := m.Text()
	*to = T(text)
	return ok
}

// takeStamp stores the time of m in *to. It returns false if m is no whole number; *to
// is not to be used then.
func takeStamp(to *stamp, m jsonscan.Member) bool {
	n, err := strconv.ParseInt(string(m.Raw), 10, 64)
	to.Time = time.UnixMilli(n).UTC()
	return err == nil
}

// take implements flat.
func (v *sessionValue) take(m jsonscan.Member) bool {
	switch string(m.Key) {
	case "user":
		return takeText(&v.User, m)
	case "entry":
		return takeText(&v.Entry, m)
	case "id":
		return takeText(&v.ID, m)
	case "expires":
		return takeStamp(&v.Expires, m)
	case "created":
		return takeStamp(&v.Created, m)
	case "agent":
		return takeText(&v.Agent, m)
	case "tenant":
		return takeText(&v.Tenant, m)
	case "provider":
		return takeText(&v.Provider, m)
	case "proved":
		return takeStamp(&v.Proved, m)
	case "acr":
		return takeText(&v.ACR, m)
	}
	return false
}

// take implements flat.
func (v *userValue) take(m jsonscan.Member) bool {
	switch string(m.Key) {
	case "id":
		return takeText(&v.ID, m)
	case "born":
		return takeText(&v.Born, m)
	case "state":
		return takeText(&v.State, m)
	case "settled":
		return takeText(&v.Settled, m)
	case "name":
		return takeText(&v.Name, m)
	case "email":
		return takeText(&v.Email, m)
	case "verified":
		return takeStamp(&v.Verified, m)
	case "image":
		return takeText(&v.Image, m)
	case "extra":
		v.Extra = slices.Clone(m.Raw)
		return true
	}
	return false
}
