package dynamoadapter

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
)

// holder is the user to whom a note leads. Notes are records of this package beside the
// items of Auth.js: they lead from an account or the token of a session to its user.
type holder struct {
	User string `json:"user"`
	Born string `json:"born,omitempty"` // of accounts: an id can be used again when its user was deleted
}

// note returns the note as a record with a new version. The table may forget it after
// until. A zero until means never.
func (h holder) note(k kvstore.Key, until time.Time) kvstore.Record {
	value, _ := json.Marshal(h) // never fails for two texts
	return kvstore.Record{Key: k, Version: newUUID(), Value: value, Until: until}
}

// holderOf returns the holder in a note, and the zero holder if the record is no note.
func holderOf(note kvstore.Record) (h holder) {
	_ = json.Unmarshal(note.Value, &h)
	return h
}

// noteOfAccount returns the key of the note that decides to which user an account belongs.
func noteOfAccount(provider, id string) kvstore.Key {
	sum := hashOf(provider, id)
	return kvstore.Key{Kind: kvstore.KindAccount, Name: base64.RawURLEncoding.EncodeToString(sum[:])}
}

// noteOfSession returns the key of the note that leads to a session until the index does.
func noteOfSession(token string) kvstore.Key {
	sum := hashOf(token)
	return kvstore.Key{Kind: kvstore.KindSession, Name: base64.RawURLEncoding.EncodeToString(sum[:])}
}

// noteLife is how long the note of a session lasts, which is longer than an index is ever
// late.
const noteLife = 24 * time.Hour
