package vault

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// The members of Tokens.Extra that say how long tokens last, in seconds.
const (
	expiresIn        = "expires_in"
	refreshExpiresIn = "refresh_expires_in"
)

var lifetimes = []string{expiresIn, "refresh_token_expires_in", refreshExpiresIn}

// Merge returns the tokens of an answer, completed from the former ones: the refresh
// token, scope, ID token, session state, token type and authorization details that the
// answer lacks come from former. Extra is that of the answer. If the answer has an access
// token without an expiry, and lifetime is above 0, the token expires after lifetime.
// Merge changes neither argument.
func Merge(former, answer storage.Tokens, lifetime time.Duration, now time.Time) storage.Tokens {
	t := answer
	keep(&t.RefreshToken, former.RefreshToken)
	keep(&t.Scope, former.Scope)
	keep(&t.IDToken, former.IDToken)
	keep(&t.SessionState, former.SessionState)
	keep(&t.TokenType, former.TokenType)
	if t.AuthorizationDetails == nil {
		t.AuthorizationDetails = former.AuthorizationDetails
	}
	if t.ExpiresAt.IsZero() && lifetime > 0 && t.AccessToken != "" {
		t.ExpiresIn = lifetime
		t.ExpiresAt = time.Unix(now.Unix(), 0).Add(lifetime)
	}
	return t
}

// keep sets *field to former if it is empty.
func keep(field *string, former string) {
	if *field == "" {
		*field = former
	}
}

// withLifetimes returns kept with members in Extra that say how long the tokens last:
// those of answer.Extra, and expires_in from answer.ExpiresIn. Members that kept has stay.
// kept is the part of the answer that is stored. Without an access token it adds nothing.
func withLifetimes(kept, answer storage.Tokens) storage.Tokens {
	if kept.AccessToken == "" {
		return kept
	}
	extra := maps.Clone(kept.Extra)
	if extra == nil {
		extra = map[string]any{}
	}
	for _, name := range lifetimes {
		if value, ok := answer.Extra[name]; ok && extra[name] == nil {
			extra[name] = value
		}
	}
	if answer.ExpiresIn > 0 && extra[expiresIn] == nil {
		extra[expiresIn] = json.Number(strconv.FormatInt(int64(answer.ExpiresIn/time.Second), 10))
	}
	if len(extra) > 0 {
		kept.Extra = extra
	}
	return kept
}

// LifetimeOf returns how long an access token lasts from its issue to its expiry, or 0 if
// that is not known.
func LifetimeOf(t *storage.Tokens) time.Duration {
	if t.ExpiresIn > 0 {
		return t.ExpiresIn
	}
	switch stated := t.Extra[expiresIn].(type) {
	case json.Number:
		return seconds(stated.String())
	case string:
		return seconds(stated)
	case float64:
		return seconds(strconv.FormatFloat(stated, 'f', -1, 64))
	}
	return 0
}

// seconds reads a number of seconds, and cuts it to whole seconds and to ten years. It
// returns 0 for a text that is no number above 0.
func seconds(text string) time.Duration {
	const most = 10 * 365 * 24 * 60 * 60
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n > 0) {
		return 0
	}
	return time.Duration(min(n, most)) * time.Second
}

// Scopes splits a scope. Providers separate scopes with spaces or commas.
func Scopes(scope string) []string {
	return strings.FieldsFunc(scope, func(r rune) bool { return r == ' ' || r == ',' })
}

// missingScopes returns those of wanted that are not in granted, a scope as Scopes splits
// it.
func missingScopes(granted string, wanted []string) (missing []string) {
	if len(wanted) == 0 {
		return nil
	}
	has := Scopes(granted)
	for _, scope := range wanted {
		if !slices.Contains(has, scope) {
			missing = append(missing, scope)
		}
	}
	return missing
}
