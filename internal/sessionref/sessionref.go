// Package sessionref names sessions: a sign-in that is under way remembers by a
// [Ref] in which session it was begun.
package sessionref

// Ref names a session, stored or JWT. The zero Ref means that no user was signed
// in.
type Ref struct {
	UserID    string `json:"user,omitempty"`
	SessionID string `json:"session,omitempty"` // empty: a token without an id
	Since     int64  `json:"since,omitempty"`   // the sign-in, in Unix milliseconds; 0: unknown
}

// HashPrefix begins the SessionID of a stored session whose store has no ids: a
// hash of the token takes the place of the id.
const HashPrefix = "token:"

// Same reports whether both name one session, whatever Since is. Two zero Refs are the
// same.
func (r Ref) Same(other Ref) bool { return r.UserID == other.UserID && r.SessionID == other.SessionID }
