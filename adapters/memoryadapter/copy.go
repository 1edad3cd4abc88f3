package memoryadapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// Nothing that a caller passed in or was given is shared with the store.
// Extra and other maps of any values go through JSON, as in a database. So a value that is
// read may have another type than the one that was stored: a number is a json.Number.

// copyUser returns a copy of a user without the suspension, with times in UTC and to the
// millisecond. It returns an error if Extra cannot be encoded as JSON.
func copyUser(u storage.User) (out storage.User, err error) {
	out = storage.User{ID: u.ID, Name: u.Name, Email: u.Email, EmailVerified: utc(u.EmailVerified), Image: u.Image}
	out.Created, out.Provisioned = utc(u.Created), utc(u.Provisioned)
	out.Extra, err = copyJSON(u.Extra)
	return out, err
}

// copyAccount returns a copy of an account, with ExpiresAt in UTC and to the millisecond. It
// returns an error if an Extra or the AuthorizationDetails cannot be encoded as JSON.
func copyAccount(a storage.Account) (out storage.Account, err error) {
	out = a
	out.Tokens.ExpiresAt = utc(a.Tokens.ExpiresAt)
	if out.Extra, err = copyJSON(a.Extra); err != nil {
		return out, err
	}
	if out.Tokens.Extra, err = copyJSON(a.Tokens.Extra); err != nil {
		return out, err
	}
	out.Tokens.AuthorizationDetails, err = copyJSON(a.Tokens.AuthorizationDetails)
	return out, err
}

// copySession returns a copy of a session, with times in UTC and to the millisecond.
func copySession(s storage.StoredSession) storage.StoredSession {
	s.Expires, s.Created = utc(s.Expires), utc(s.Created)
	s.ProviderIssued, s.Proved = utc(s.ProviderIssued), utc(s.Proved)
	s.AMR = append([]string(nil), s.AMR...) // nil for none, as from a database
	return s
}

// copyAuthenticator returns a copy of a passkey, with times in UTC and to the
// millisecond.
func copyAuthenticator(k storage.Authenticator) storage.Authenticator {
	k.Created, k.Used = utc(k.Created), utc(k.Used)
	k.CredentialID = bytes.Clone(k.CredentialID)
	k.PublicKey = bytes.Clone(k.PublicKey)
	k.UserHandle = append([]byte(nil), k.UserHandle...) // nil for none, as from a database
	k.Transports = slices.Clone(k.Transports)
	return k
}

// copyJSON returns v as it reads back from JSON, with numbers as [json.Number].
// An empty v becomes nil. It returns an error if v cannot be encoded.
func copyJSON[T map[string]any | []map[string]any](v T) (out T, err error) {
	if len(v) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("memoryadapter: a member is no JSON: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // a float64 would round large ids
	err = d.Decode(&out)
	return out, err
}

// utc returns an instant as a database would: in UTC, truncated to the millisecond. The
// zero time stays zero.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.Truncate(time.Millisecond).UTC()
}
