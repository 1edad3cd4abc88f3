package directory

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/storage"
)

// The names under which the providers of a session can end it. A session that takes the
// place of another one, because its user has linked an account or a passkey, keeps the
// names of that one beside its own.

// ProviderNames is what an OpenID Provider calls the session of a sign-in there.
type ProviderNames struct {
	Provider string    `json:"p,omitempty"`   // its id
	SID      string    `json:"sid,omitempty"` // of ProviderName; empty: the ID token has none
	Sub      string    `json:"sub,omitempty"`
	Issued   time.Time `json:"iat,omitzero"` // the iat of the ID token
}

// AtProvider is what a sign-in says of the session at its provider.
type AtProvider struct {
	ProviderNames

	Former []ProviderNames // of the session that this one takes the place of, the oldest first
	Hint   Hint            // for a logout at the provider
}

// mostFormerNames bounds the former sign-ins whose names a session keeps.
// The first ones stay: a thief cannot push them out by linking accounts.
const mostFormerNames = 3

// ProviderName returns the hash by which the sessions of a user or a session at a
// provider are found. name is the sub or sid there. The hash is the same under every
// secret. For an empty name it is "".
func ProviderName(k *keys.Keys, kind keys.Kind, issuer, client, name string) string {
	if name == "" {
		return ""
	}
	return k.Lasting(kind, issuer, client, name)
}

// all returns the names that are not empty.
func (n *ProviderNames) all() (all []string) {
	for _, name := range []string{n.SID, n.Sub} {
		if name != "" {
			all = append(all, name)
		}
	}
	return all
}

// isEmpty reports whether no logout at a provider can name the session.
func (n ProviderNames) isEmpty() bool { return n.SID == "" && n.Sub == "" }

// All returns the names of former sessions, and last those of the session itself. It
// leaves out those that are empty. A nil at has none.
func (at *AtProvider) All() []ProviderNames {
	if at == nil {
		return nil
	}
	return slices.DeleteFunc(append(slices.Clone(at.Former), at.ProviderNames), ProviderNames.isEmpty)
}

// Beside returns the names of a session that takes the place of another one, which had
// the names former. The result is at with former as its former names: each once, with the
// time of its earliest ID token, and three at most. If at is nil or has no names of its
// own, the last of former become its own. Beside does not change at. With an empty former
// it returns at.
func (at *AtProvider) Beside(former []ProviderNames) *AtProvider {
	if len(former) == 0 {
		return at
	}
	joined := AtProvider{}
	if at != nil {
		joined = *at
	}
	if last := len(former) - 1; joined.isEmpty() {
		joined.ProviderNames, former = former[last], former[:last]
	}
	joined.Former = nil
	for _, n := range former {
		i := slices.IndexFunc(joined.Former, n.isSame)
		switch {
		case i >= 0 && n.Issued.Before(joined.Former[i].Issued):
			joined.Former[i].Issued = n.Issued
		case i < 0 && len(joined.Former) < mostFormerNames:
			joined.Former = append(joined.Former, n)
		}
	}
	return &joined
}

// isSame reports whether both are names of one session.
func (n ProviderNames) isSame(other ProviderNames) bool {
	return n.Provider == other.Provider && n.SID == other.SID && n.Sub == other.Sub
}

// kept returns the names that are stored beside those of the session itself: the former
// ones and, if they are not of provider, the session's own, because nothing else says of
// which provider these are. provider is the one under which the session is stored. The
// caller does not change the result.
func (at *AtProvider) kept(provider string) []ProviderNames {
	if at.Provider == "" || at.Provider == provider || at.isEmpty() {
		return at.Former
	}
	return append(slices.Clone(at.Former), at.ProviderNames)
}

// keepJoinedNames adds the names of the current session to those of a sign-in that links or
// connects an account in it: the session goes on, by another token. For any other sign-in
// it does nothing.
func (signIn *SignIn) keepJoinedNames() {
	if signIn.IsLink || signIn.Connects {
		signIn.AtProvider = signIn.AtProvider.Beside(signIn.JoinedNames)
	}
}

// namesClaim holds what a session token says of the session at its providers.
type namesClaim struct {
	Provider string       `json:"p,omitempty"`
	SID      string       `json:"sid,omitempty"`
	Sub      string       `json:"sub,omitempty"`
	Issued   json.Number  `json:"iat,omitempty"`
	Former   []namesClaim `json:"former,omitempty"`
}

// names returns the names of one sign-in.
func (c *namesClaim) names() ProviderNames {
	n := ProviderNames{Provider: c.Provider, SID: c.SID, Sub: c.Sub}
	if seconds, err := c.Issued.Float64(); err == nil {
		n.Issued, _ = jwtclaims.Instant(seconds)
	}
	return n
}

// claim returns the names as a claim has them.
func (n *ProviderNames) claim() map[string]any {
	return map[string]any{"p": n.Provider, "sid": n.SID, "sub": n.Sub, "iat": jwtclaims.UnixSeconds(n.Issued)}
}

// Claim returns what a session token says of the session at its providers, for ReadNames.
// provider is the one that opened the session. at must not be nil.
func (at *AtProvider) Claim(provider string) map[string]any {
	claim := at.claim()
	claim["p"] = provider
	if besides := at.kept(provider); len(besides) > 0 {
		former := make([]any, len(besides)) // as in claims that were decoded
		for i := range besides {
			former[i] = besides[i].claim()
		}
		claim["former"] = former
	}
	return claim
}

// ReadNames returns what Claim has written: the provider that opened the session, and all
// names, its own last. It returns zero values for any other JSON.
func ReadNames(raw []byte) (provider string, names []ProviderNames) {
	var read namesClaim
	if json.Unmarshal(raw, &read) != nil {
		return "", nil
	}
	at := AtProvider{ProviderNames: read.names()}
	for i := range read.Former {
		at.Former = append(at.Former, read.Former[i].names())
	}
	return read.Provider, at.All()
}

// keepNames writes into the row of a session what its providers call it. hint is sealed.
// The names beside the session's own, which are under no secret, follow it in Sealed.
func (at *AtProvider) keepNames(row *storage.StoredSession, hint string) {
	row.ProviderSID, row.ProviderSub, row.ProviderIssued, row.Sealed = at.SID, at.Sub, at.Issued, hint
	for _, n := range at.kept(row.Provider) {
		row.Sealed += " " + n.SID + "." + n.Sub + "." + strconv.FormatInt(n.Issued.UnixMilli(), 10) + "." + n.Provider
	}
}

// FormerOnly returns the field Sealed of a stored session without its hint, or "" if it
// has nothing else.
func FormerOnly(sealed string) string {
	_, former, found := strings.Cut(sealed, " ")
	if !found {
		return ""
	}
	return " " + former
}

// NamesOf returns all names of a stored session, its own last.
func NamesOf(row *storage.StoredSession) []ProviderNames {
	at := AtProvider{ProviderNames: ProviderNames{row.Provider, row.ProviderSID, row.ProviderSub, row.ProviderIssued}, Former: formerIn(row.Sealed)}
	return at.All()
}

// formerIn returns the names that keepNames has written behind the hint.
func formerIn(sealed string) (former []ProviderNames) {
	_, text, _ := strings.Cut(sealed, " ")
	for _, one := range strings.Fields(text) {
		part := strings.SplitN(one, ".", 4)
		if len(part) < 3 {
			continue
		}
		n := ProviderNames{SID: part[0], Sub: part[1]}
		if len(part) == 4 { // rows of earlier versions name no provider
			n.Provider = part[3]
		}
		if ms, err := strconv.ParseInt(part[2], 10, 64); err == nil {
			n.Issued = time.UnixMilli(ms)
		}
		former = append(former, n)
	}
	return former
}

// HasSID reports whether one of the names is the session sid at the provider. An empty
// sid is none.
func HasSID(names []ProviderNames, provider, sid string) bool {
	return sid != "" && slices.ContainsFunc(names, func(n ProviderNames) bool { return n.Provider == provider && n.SID == sid })
}
