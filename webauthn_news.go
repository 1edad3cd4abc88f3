package latchkey

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/weburl"
	"github.com/latchkeyhq/latchkey/passkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// For whom passkeys are, and what browsers can be told of those that were renamed
// or removed, so that password managers follow (Web Authentication Level 3,
// section 5.1.10).

// actionSignals asks for it.
const actionSignals = "signals"

// passkeyNews has the members of all the signals that there are.
type passkeyNews struct {
	RPID         string    `json:"rpId"`
	CredentialID string    `json:"credentialId,omitempty"` // that is not accepted any longer
	UserID       string    `json:"userId,omitempty"`       // what authenticators call the user
	Accepted     *[]string `json:"allAcceptedCredentialIds,omitempty"`
	Name         string    `json:"name,omitempty"`
	DisplayName  string    `json:"displayName,omitempty"`
}

// news returns what a browser can be told of a user's passkeys, as JSON, or "".
// gone is the id of one that has just been removed; empty: none.
func (w *webauthnProvider) news(party passkey.RelyingParty, u *User, keys []storage.Authenticator, gone string) string {
	n := passkeyNews{RPID: party.ID, CredentialID: gone}
	if i := slices.IndexFunc(keys, hasHandle); i >= 0 {
		accepted := make([]string, 0, len(keys))
		for _, k := range keys {
			accepted = append(accepted, base64.RawURLEncoding.EncodeToString(k.CredentialID))
		}
		n.UserID, n.Accepted = base64.RawURLEncoding.EncodeToString(keys[i].UserHandle), &accepted
		n.Name, n.DisplayName = shownNames(u)
	}
	if n.UserID == "" && gone == "" {
		return ""
	}
	raw, err := json.Marshal(n)
	if err != nil {
		return ""
	}
	return string(raw)
}

func hasHandle(k storage.Authenticator) bool { return len(k.UserHandle) > 0 }

// shownNames returns what browsers show of a user where people choose a
// passkey.
func shownNames(u *User) (name, displayName string) {
	return cmp.Or(u.Email, u.Name, u.ID), cmp.Or(u.Name, u.Email)
}

// signals answers the question for news.
func (w *webauthnProvider) signals(ctx context.Context, party passkey.RelyingParty, here *currentUser) (*Response, error) {
	if here == nil {
		return optionsRefused("Invalid request"), nil
	}
	keys, err := w.setup.directory.Passkeys(ctx, here.user.ID)
	if err != nil {
		return nil, err
	}
	told := cmp.Or(w.news(party, &here.user, keys, ""), "null")
	return noStore(jsonBytes(http.StatusOK, []byte(`{"action":"`+actionSignals+`","options":`+told+`}`))), nil
}

// partyOf returns the relying party of passkeys.
func (w *webauthnProvider) partyOf(r *Request, o weburl.Origin) (rp passkey.RelyingParty) {
	if w.RelyingParty != nil {
		rp = w.RelyingParty(r)
	}
	fill.Default(&rp.ID, o.HostName())
	fill.Default(&rp.Name, cmp.Or(w.setup.config.Theme.Name, o.Host()))
	if len(rp.Origins) == 0 {
		rp.Origins = []string{o.Text}
	}
	return rp
}
