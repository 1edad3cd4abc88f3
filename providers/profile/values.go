package profile

import (
	"encoding/json"
	"errors"
)

// IDToken holds the members that the ID tokens of most providers have. See
// OpenID Connect Core 1.0, section 2.
type IDToken struct {
	Issuer          string     `json:"iss"`
	Subject         string     `json:"sub"`
	Audience        StringList `json:"aud"`
	Party           string     `json:"azp"`       // the client it was issued to; empty: not said
	IssuedAt        int64      `json:"iat"`       // seconds since 1970
	ExpiresAt       int64      `json:"exp"`       // seconds since 1970
	NotBefore       int64      `json:"nbf"`       // seconds since 1970; 0: not said
	AuthTime        int64      `json:"auth_time"` // of the sign-in, in seconds since 1970; 0: not said
	Nonce           string     `json:"nonce"`
	AccessTokenHash string     `json:"at_hash"`
	CodeHash        string     `json:"c_hash"`
	ID              string     `json:"jti"`
}

// Standard is an ID token with the claims of OpenID Connect Core 1.0, section
// 5.1, as providers issue it that keep to the standard.
type Standard struct {
	IDToken
	Name                string     `json:"name"`
	GivenName           string     `json:"given_name"`
	FamilyName          string     `json:"family_name"`
	MiddleName          string     `json:"middle_name"`
	Nickname            string     `json:"nickname"`
	PreferredUsername   string     `json:"preferred_username"` // may change and be taken over by another person
	Profile             string     `json:"profile"`            // URL of a page about the person
	Picture             string     `json:"picture"`
	Website             string     `json:"website"`
	Email               string     `json:"email"`
	EmailVerified       Flag       `json:"email_verified"`
	Gender              string     `json:"gender"`
	Birthdate           string     `json:"birthdate"` // YYYY-MM-DD, 0000-MM-DD without the year, or YYYY
	Zoneinfo            string     `json:"zoneinfo"`
	Locale              string     `json:"locale"`
	PhoneNumber         string     `json:"phone_number"`
	PhoneNumberVerified Flag       `json:"phone_number_verified"`
	Address             *Address   `json:"address"`       // nil: not said
	UpdatedAt           any        `json:"updated_at"`    // seconds since 1970; with some providers a text
	ContextClass        string     `json:"acr"`           // how sure the provider is of the person
	Methods             StringList `json:"amr"`           // how the person signed in
	SessionID           string     `json:"sid"`           // at the provider
	SessionState        string     `json:"session_state"` // OpenID Connect Session Management
}

// StringList is a list that may be written as a single text where it has one
// entry, as the aud of a token is.
type StringList []string

// UnmarshalJSON reads a text, a list of texts, or null, which makes the list nil.
func (l *StringList) UnmarshalJSON(data []byte) error {
	var one *string
	if err := json.Unmarshal(data, &one); err == nil {
		*l = nil
		if one != nil {
			*l = StringList{*one}
		}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(l))
}

// Flag is a boolean that some providers write as text or as a number: true,
// "true", 1 and "1" are true; false, "false", 0, "0", "" and null are not.
type Flag bool

// UnmarshalJSON reads a flag in one of the forms of [Flag]. It returns an error for any
// other value.
func (f *Flag) UnmarshalJSON(data []byte) error {
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	set, known := flagOf(value)
	if !known {
		return errors.New("providers: a flag is neither true nor false")
	}
	*f = Flag(set)
	return nil
}

// flagOf returns the flag that value writes. known is false for a form that [Flag] has
// not.
func flagOf(value any) (set, known bool) {
	switch v := value.(type) {
	case nil:
		return false, true
	case bool:
		return v, true
	case json.Number:
		return v == "1", v == "1" || v == "0"
	case float64:
		return v == 1, v == 1 || v == 0
	case string:
		return v == "true" || v == "1", v == "true" || v == "1" || v == "false" || v == "0" || v == ""
	}
	return false, false
}
