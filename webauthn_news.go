package latchkey

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/passkeys"
	"github.com/latchkeyhq/latchkey/internal/weburl"
	"github.com/latchkeyhq/latchkey/passkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// For whom passkeys are, and what browsers can be told of those that were renamed
// or removed, so that password managers follow (Web Authentication Level 3,
// section 5.1.10).

// actionSignals is the action that asks for the news of passkeys.
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

// news returns what a browser can be told of a user's passkeys, as JSON, or "". handle is
// the name of the user in authenticators; nil: none, or one that another site has made.
// Without a handle, u and keys are not used. gone is the id of a passkey that the store
// knew once; empty: none.
func news(party *passkey.RelyingParty, u *User, keys []storage.Authenticator, handle []byte, gone string) string {
	n := passkeyNews{RPID: party.ID, CredentialID: gone}
	if handle != nil {
		accepted := make([]string, 0, len(keys))
		for _, k := range keys {
			accepted = append(accepted, base64.RawURLEncoding.EncodeToString(k.CredentialID))
		}
		n.UserID, n.Accepted = base64.RawURLEncoding.EncodeToString(handle), &accepted
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

// shownNames returns what browsers show of a user where people choose a passkey. u is not
// nil.
func shownNames(u *User) (name, displayName string) {
	return cmp.Or(u.Email, u.Name, u.ID), cmp.Or(u.Name, u.Email)
}

// signals answers with the news of passkeys as JSON, or null if there are none; here may
// be nil. Browsers act on them for all sites of a relying party, so they are about
// passkeys of this site alone: those with a handle that the site has made, and the one
// that the request before has found to be gone.
func (w *webauthnProvider) signals(ctx context.Context, v *visit, l *links, here *currentUser) (*Response, error) {
	party := w.partyOf(v.request, l.origin)
	gone, err := w.takeGone(ctx, v, here)
	if err != nil {
		return nil, err
	}
	told := ""
	if here == nil {
		told = news(&party, nil, nil, nil, gone)
	} else {
		keys, err := w.setup.directory.Passkeys(ctx, here.user.ID)
		if err != nil {
			return nil, err
		}
		own := func(k storage.Authenticator) bool { return w.isOwnHandle(k.UserHandle, l, &party) }
		var handle []byte
		if i := slices.IndexFunc(keys, own); i >= 0 {
			handle = keys[i].UserHandle
		}
		told = news(&party, &here.user, keys, handle, gone)
	}
	return noStore(jsonBytes(http.StatusOK, []byte(`{"action":"`+actionSignals+`","options":`+cmp.Or(told, "null")+`}`))), nil
}

// goneKey names the passkey in a notice. No form has a field of that name.
const goneKey = "gone passkey"

// withGone returns a flash message that names a passkey of a provider that browsers may
// forget.
func withGone(left browser.Flash, provider string, id []byte) browser.Flash {
	left.Provider, left.Typed = provider, maps.Clone(left.Typed)
	if left.Typed == nil {
		left.Typed = map[string]string{}
	}
	left.Typed[goneKey] = base64.RawURLEncoding.EncodeToString(id)
	return left
}

// takeGone returns the id of the passkey that the request before found to be gone, in
// base64url, or "" if there is none or the store knows it. It removes that from the flash
// message, so that it is returned once.
func (w *webauthnProvider) takeGone(ctx context.Context, v *visit, here *currentUser) (string, error) {
	left := v.flash()
	id, _ := base64.RawURLEncoding.DecodeString(left.Typed[goneKey])
	if left.Provider != w.ID || len(id) == 0 || left.User != "" && (here == nil || here.user.ID != left.User) {
		return "", nil
	}
	v.cookies.Forget(&v.cookies.Specs.Flash)
	if !left.Proved.IsZero() {
		v.leave(forAccount(v, noticeFresh, left.User))
	}
	known, err := guarded.Optional(w.setup.store.Authenticator(ctx, id))
	if known != nil || err != nil {
		return "", err
	}
	return left.Typed[goneKey], nil
}

// handleScope returns a name of the site and relying party to which user handles belong.
func (w *webauthnProvider) handleScope(l *links, party *passkey.RelyingParty) string {
	return w.setup.bind(party.ID + "\x00" + l.url(""))
}

// newHandle returns a new user handle: what authenticators call a new user.
func (w *webauthnProvider) newHandle(l *links, party *passkey.RelyingParty) []byte {
	return passkeys.NewHandle(w.setup.csrfSecret, w.handleScope(l, party))
}

// isOwnHandle reports whether newHandle has made the handle for this site.
func (w *webauthnProvider) isOwnHandle(handle []byte, l *links, party *passkey.RelyingParty) bool {
	return passkeys.IsHandle(handle, w.setup.csrfSecrets, w.handleScope(l, party))
}

// partyOf returns the relying party of passkeys for a request: what RelyingParty returns,
// and for its empty fields the site as the browser sees it.
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
