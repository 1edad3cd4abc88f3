package storage

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/wirejson"
)

// Records as Auth.js writes them in JSON, for adapters that keep them behind HTTP. The
// types that they are named after write no secret in JSON. A caller that wants the
// secrets written converts to one of these types, so that nothing is written out by
// accident. A User has no such type, because it holds no secret.

// AccountRecord is an [Account] with the names of Auth.js in JSON: userId, type,
// provider, providerAccountId, and, where they are known, refresh_token,
// access_token, expires_at and expires_in (both in seconds), token_type, scope,
// id_token, session_state and authorization_details. Names of our own are id,
// token_extra, email and email_vouched. The members of Extra stand beside the
// others. A member of Extra that has one of these names is left out; names are compared
// exactly.
//
//	body, err := json.Marshal(storage.AccountRecord(account))
type AccountRecord Account

type accountWire struct {
	ID                   string           `json:"id,omitempty"`
	UserID               string           `json:"userId"`
	Type                 ProviderType     `json:"type"`
	Provider             string           `json:"provider"`
	ProviderAccountID    string           `json:"providerAccountId"`
	RefreshToken         string           `json:"refresh_token,omitempty"`
	AccessToken          string           `json:"access_token,omitempty"`
	ExpiresAt            int64            `json:"expires_at,omitempty"`
	ExpiresIn            int64            `json:"expires_in,omitempty"`
	TokenType            string           `json:"token_type,omitempty"`
	Scope                string           `json:"scope,omitempty"`
	IDToken              string           `json:"id_token,omitempty"`
	SessionState         string           `json:"session_state,omitempty"`
	AuthorizationDetails []map[string]any `json:"authorization_details,omitempty"`
	TokenExtra           map[string]any   `json:"token_extra,omitempty"`
	Email                string           `json:"email,omitempty"`
	EmailVouched         bool             `json:"email_vouched,omitempty"`
}

// accountMembers may not be overridden by Extra.
var accountMembers = []string{
	"id", "userId", "type", "provider", "providerAccountId", "refresh_token", "access_token", "expires_at", "expires_in", "token_type",
	"scope", "id_token", "session_state", "authorization_details", "token_extra", "email", "email_vouched",
}

// MarshalJSON implements [json.Marshaler]; see [AccountRecord] for the form. It writes
// the tokens in plain text. It returns an error if Extra, Tokens.Extra or
// AuthorizationDetails cannot be encoded.
func (r AccountRecord) MarshalJSON() ([]byte, error) {
	t := r.Tokens
	w := accountWire{
		r.ID, r.UserID, r.Type, r.Provider, r.ProviderAccountID, t.RefreshToken, t.AccessToken, 0, int64(t.ExpiresIn / time.Second),
		t.TokenType, t.Scope, t.IDToken, t.SessionState, t.AuthorizationDetails, t.Extra, r.Email, r.EmailVouched,
	}
	if !t.ExpiresAt.IsZero() {
		w.ExpiresAt = t.ExpiresAt.Unix()
	}
	b, err := json.Marshal(w)
	if err != nil {
		return nil, errors.New("latchkey: the account holds what JSON cannot express")
	}
	b, err = wirejson.AppendExtra(b[:len(b)-1], r.Extra, accountMembers)
	return append(b, '}'), err
}

// UnmarshalJSON reads what MarshalJSON writes, and replaces all fields of r. Numbers of
// Extra, Tokens.Extra and AuthorizationDetails become [json.Number]. Its error quotes
// nothing of data.
func (r *AccountRecord) UnmarshalJSON(data []byte) error {
	var w accountWire
	extra, err := splitMembers(data, &w, accountMembers)
	if err != nil {
		return errors.New("latchkey: the record is no account")
	}
	*r = AccountRecord{
		ID: w.ID, UserID: w.UserID, Type: w.Type, Provider: w.Provider, ProviderAccountID: w.ProviderAccountID,
		Tokens: Tokens{
			AccessToken: w.AccessToken, RefreshToken: w.RefreshToken, IDToken: w.IDToken, TokenType: w.TokenType, Scope: w.Scope,
			SessionState: w.SessionState, ExpiresIn: time.Duration(w.ExpiresIn) * time.Second,
			AuthorizationDetails: w.AuthorizationDetails, Extra: w.TokenExtra,
		},
		Extra: extra, Email: w.Email, EmailVouched: w.EmailVouched,
	}
	if w.ExpiresAt != 0 {
		r.Tokens.ExpiresAt = time.Unix(w.ExpiresAt, 0).UTC()
	}
	return nil
}

// splitMembers decodes the members of a JSON object whose names are in names into w, a
// pointer to a struct. It returns the others, or nil if there are none. It compares names
// exactly, so that a member Email does not fill the field email as in [encoding/json].
func splitMembers(data []byte, w any, names []string) (others map[string]any, err error) {
	var named map[string]json.RawMessage
	if err := errors.Join(wirejson.Decode(data, &named), wirejson.Decode(data, &others)); err != nil {
		return nil, err
	}
	maps.DeleteFunc(named, func(name string, _ json.RawMessage) bool { return !slices.Contains(names, name) })
	maps.DeleteFunc(others, func(name string, _ any) bool { return slices.Contains(names, name) })
	if len(others) == 0 {
		others = nil
	}
	exact, err := json.Marshal(named)
	if err != nil {
		return nil, err
	}
	return others, wirejson.Decode(exact, w)
}

// VerificationTokenRecord is a [VerificationToken] in JSON: identifier, token,
// expires, and a purpose where there is one.
type VerificationTokenRecord VerificationToken

type verificationTokenWire struct {
	Identifier string    `json:"identifier"`
	Token      string    `json:"token"`
	Expires    time.Time `json:"expires"`
	Purpose    string    `json:"purpose,omitempty"`
}

// MarshalJSON implements [json.Marshaler]; see [VerificationTokenRecord] for the form. It
// writes Expires in UTC, cut to the millisecond.
func (r VerificationTokenRecord) MarshalJSON() ([]byte, error) {
	return json.Marshal(verificationTokenWire{r.Identifier, r.Token, onWire(r.Expires), r.Purpose})
}

// UnmarshalJSON reads what MarshalJSON writes, and replaces all fields of r. Its error
// quotes nothing of data.
func (r *VerificationTokenRecord) UnmarshalJSON(data []byte) error {
	var w verificationTokenWire
	if err := json.Unmarshal(data, &w); err != nil {
		return errors.New("latchkey: the record is no verification token")
	}
	*r = VerificationTokenRecord{Identifier: w.Identifier, Token: w.Token, Expires: w.Expires, Purpose: w.Purpose}
	return nil
}

// onWire returns t in UTC, cut to the millisecond, as JavaScript's Date has it.
func onWire(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// AuthenticatorRecord is an [Authenticator] in JSON: credentialID,
// credentialPublicKey (both in base64), counter, credentialDeviceType,
// credentialBackedUp, transports joined by commas, providerAccountId, userId;
// and, where they are known, name, aaguid, created, used and user_handle (in
// base64).
type AuthenticatorRecord Authenticator

type authenticatorWire struct {
	CredentialID      string     `json:"credentialID"`
	UserID            string     `json:"userId"`
	ProviderAccountID string     `json:"providerAccountId"`
	PublicKey         string     `json:"credentialPublicKey"`
	Counter           uint32     `json:"counter"`
	DeviceType        string     `json:"credentialDeviceType"`
	BackedUp          bool       `json:"credentialBackedUp"`
	Transports        *string    `json:"transports"`
	Name              string     `json:"name,omitempty"`
	AAGUID            string     `json:"aaguid,omitempty"`
	Created           *time.Time `json:"created,omitempty"`
	Used              *time.Time `json:"used,omitempty"`
	UserHandle        []byte     `json:"user_handle,omitempty"`
}

// MarshalJSON implements [json.Marshaler]; see [AuthenticatorRecord] for the form.
// Without Transports, transports is null. It writes times in UTC, cut to the millisecond.
func (r AuthenticatorRecord) MarshalJSON() ([]byte, error) {
	w := authenticatorWire{
		base64.StdEncoding.EncodeToString(r.CredentialID), r.UserID, r.ProviderAccountID, base64.StdEncoding.EncodeToString(r.PublicKey),
		r.Counter, r.DeviceType, r.BackedUp, nil, r.Name, r.AAGUID, wireTime(r.Created), wireTime(r.Used), r.UserHandle,
	}
	if len(r.Transports) > 0 {
		joined := strings.Join(r.Transports, ",")
		w.Transports = &joined
	}
	return json.Marshal(w)
}

// wireTime returns a pointer to t as onWire returns it, or nil for the zero time.
func wireTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = onWire(t)
	return &t
}

// timeOrZero returns the time that t points to, or the zero time if t is nil.
func timeOrZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// UnmarshalJSON reads what MarshalJSON writes, and replaces all fields of r. Its error
// quotes nothing of data.
func (r *AuthenticatorRecord) UnmarshalJSON(data []byte) error {
	var w authenticatorWire
	err := json.Unmarshal(data, &w)
	id, idErr := base64.StdEncoding.DecodeString(w.CredentialID)
	key, keyErr := base64.StdEncoding.DecodeString(w.PublicKey)
	if errors.Join(err, idErr, keyErr) != nil {
		return errors.New("latchkey: the record is no authenticator")
	}
	*r = AuthenticatorRecord{
		CredentialID: id, UserID: w.UserID, ProviderAccountID: w.ProviderAccountID, PublicKey: key, Counter: w.Counter,
		DeviceType: w.DeviceType, BackedUp: w.BackedUp, Name: w.Name, AAGUID: w.AAGUID, UserHandle: w.UserHandle,
	}
	if w.Transports != nil && *w.Transports != "" {
		r.Transports = strings.Split(*w.Transports, ",")
	}
	r.Created = timeOrZero(w.Created)
	r.Used = timeOrZero(w.Used)
	return nil
}

// StoredSessionRecord is a [StoredSession] in JSON: sessionToken, userId,
// expires, and beside these names of Auth.js, where they are known, our own:
// id, created, user_agent, tenant, provider, provider_sid, provider_sub,
// provider_issued, sealed, proved, amr, acr, actor and actor_session.
type StoredSessionRecord StoredSession

type storedSessionWire struct {
	ID        string     `json:"id,omitempty"`
	Token     string     `json:"sessionToken"`
	UserID    string     `json:"userId"`
	Expires   time.Time  `json:"expires"`
	Created   *time.Time `json:"created,omitempty"`
	UserAgent string     `json:"user_agent,omitempty"`
	Tenant    string     `json:"tenant,omitempty"`
	Provider  string     `json:"provider,omitempty"`

	ProviderSID    string     `json:"provider_sid,omitempty"`
	ProviderSub    string     `json:"provider_sub,omitempty"`
	ProviderIssued *time.Time `json:"provider_issued,omitempty"`
	Sealed         string     `json:"sealed,omitempty"`
	Proved         *time.Time `json:"proved,omitempty"`
	AMR            []string   `json:"amr,omitempty"`
	ACR            string     `json:"acr,omitempty"`
	Actor          string     `json:"actor,omitempty"`
	ActorSession   string     `json:"actor_session,omitempty"`
}

// MarshalJSON implements [json.Marshaler]; see [StoredSessionRecord] for the form. It
// writes the Token as it is, and times in UTC, cut to the millisecond.
func (r StoredSessionRecord) MarshalJSON() ([]byte, error) {
	return json.Marshal(storedSessionWire{
		r.ID, r.Token, r.UserID, onWire(r.Expires), wireTime(r.Created), r.UserAgent, r.Tenant, r.Provider,
		r.ProviderSID, r.ProviderSub, wireTime(r.ProviderIssued), r.Sealed, wireTime(r.Proved), r.AMR, r.ACR,
		r.Actor, r.ActorSession,
	})
}

// UnmarshalJSON reads what MarshalJSON writes, and replaces all fields of r. Its error
// quotes nothing of data.
func (r *StoredSessionRecord) UnmarshalJSON(data []byte) error {
	var w storedSessionWire
	if err := json.Unmarshal(data, &w); err != nil {
		return errors.New("latchkey: the record is no session")
	}
	*r = StoredSessionRecord{
		ID: w.ID, Token: w.Token, UserID: w.UserID, Expires: w.Expires, UserAgent: w.UserAgent, Tenant: w.Tenant, Provider: w.Provider,
		ProviderSID: w.ProviderSID, ProviderSub: w.ProviderSub, Sealed: w.Sealed, AMR: w.AMR, ACR: w.ACR,
		Actor: w.Actor, ActorSession: w.ActorSession,
	}
	r.Created = timeOrZero(w.Created)
	r.ProviderIssued = timeOrZero(w.ProviderIssued)
	r.Proved = timeOrZero(w.Proved)
	return nil
}
