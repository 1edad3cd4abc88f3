package dynamoadapter

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
)

// Notes are records of this package beside the items of Auth.js. They lead from
// an account or the token of a session to the user with whom it is.

// holder is that user, by a note.
type holder struct {
	User string `json:"user"`
	Born string `json:"born,omitempty"` // of accounts: an id can be used again when its user was deleted
}

// note is a record that says so. It may be forgotten after until; zero: never.
func (h holder) note(k kvstore.Key, until time.Time) kvstore.Record {
	value, _ := json.Marshal(h) // two texts always are
	return kvstore.Record{Key: k, Version: newUUID(), Value: value, Until: until}
}

// holderOf is nobody where a note is none.
func holderOf(note kvstore.Record) (h holder) {
	_ = json.Unmarshal(note.Value, &h)
	return h
}

// noteOfAccount decides whose an account is.
func noteOfAccount(provider, id string) kvstore.Key {
	sum := hashOf(provider, id)
	return kvstore.Key{Kind: kvstore.KindAccount, Name: base64.RawURLEncoding.EncodeToString(sum[:])}
}

// noteOfSession leads to a session until the index does.
func noteOfSession(token string) kvstore.Key {
	sum := hashOf(token)
	return kvstore.Key{Kind: kvstore.KindSession, Name: base64.RawURLEncoding.EncodeToString(sum[:])}
}

// noteLife is how long a note of a session has to last: longer than an index is
// ever late.
const noteLife = 24 * time.Hour
