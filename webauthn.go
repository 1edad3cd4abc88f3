package latchkey

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/internal/passkeys"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/passkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// Passkeys: what the browser is asked for. What it answers is in
// webauthn_answer.go.

// The two things that are done with passkeys, in the words of the wire.
const (
	actionRegister     = "register"
	actionAuthenticate = "authenticate"
)

// begin redirects to the sign-in page, which has the form.
func (w *webauthnProvider) begin(_ context.Context, x *exchange) (outcome, error) {
	return outcome{response: &Response{Redirect: x.url("signin")}}, nil
}

// visitorInfo is for whom options are asked.
type visitorInfo struct {
	user   *User        // nil: not said
	exists bool         // in the store
	here   *currentUser // nil: signed out
	name   string       // under which an unauthenticated client asks for user
	second string       // hash of the handle of the sign-in whose second factor is asked for; empty: another question
}

// options answers GET /webauthn-options/:provider.
func (w *webauthnProvider) options(ctx context.Context, x *exchange) (*Response, error) {
	action, given := x.query.Get("action"), x.query.Has("action")
	if given && !slices.Contains([]string{actionRegister, actionAuthenticate, actionSignals}, action) {
		return optionsRefused("Invalid action"), nil
	}
	here, err := x.setup.sessions.current(ctx, &x.visit)
	if err != nil {
		return nil, atProvider(x.provider, err)
	}
	if action == actionSignals {
		res, err := w.signals(ctx, &x.visit, &x.links, here)
		return res, atProvider(x.provider, err)
	}
	who := visitorInfo{here: here}
	if isSecond, err := who.forFactor(ctx, x, action); err != nil || isSecond && who.user == nil {
		return optionsRefused("Invalid request"), atProvider(x.provider, err)
	} else if isSecond {
		action = actionAuthenticate
	} else if here != nil {
		who.user, who.exists = &here.user, true
	} else {
		if wait, err := w.admitQuestion(ctx, &x.visit, x.query); wait > 0 || err != nil {
			return tooManyQuestions(wait), atProvider(x.provider, err)
		}
		if who.user, who.exists, err = w.stranger(ctx, x.request, x.query.Get("email"), action); err != nil {
			return nil, atProvider(x.provider, err)
		}
		who.name = nameAsked(who.user, x.query)
	}
	var res *Response
	switch w.decide(action, &who) {
	case actionAuthenticate:
		res, err = w.requestOptions(ctx, x, &who)
	case actionRegister:
		res, err = w.creationOptions(ctx, x, &who)
	default:
		res = optionsRefused("Invalid request")
	}
	return res, atProvider(x.provider, err)
}

// decide chooses between the two actions, as Auth.js does, and returns "" for a request
// that is refused. A signed-in user names the action. A new passkey is for a signed-in
// user, or for a user that does not exist yet. If unauthenticated clients learn nothing,
// a taken e-mail address looks like a free one until the passkey has been made, and is
// refused then.
func (w *webauthnProvider) decide(action string, who *visitorInfo) string {
	switch {
	case action == actionAuthenticate:
		return action
	case action == actionRegister && who.user != nil && (who.here != nil || !who.exists || w.ListCredentials != passkey.ListKnown):
		return action
	case action != "" || who.here != nil:
		return ""
	case who.user == nil || who.exists || w.ListCredentials != passkey.ListKnown:
		return actionAuthenticate
	}
	return actionRegister
}

// admitQuestion counts a question of an unauthenticated client about a user, and returns
// how long the client has to wait. 0: not at all.
func (w *webauthnProvider) admitQuestion(ctx context.Context, v *visit, query url.Values) (time.Duration, error) {
	if !w.isAboutSomebody(query) {
		return 0, nil
	}
	try, err := w.setup.limits.Take(ctx, w.setup.limits.Question(w.setup.requesterOf(ctx, v, nil)))
	return try.Wait, err
}

// isAboutSomebody reports whether the question names a user, so that the answer
// may depend on the user.
func (w *webauthnProvider) isAboutSomebody(query url.Values) bool {
	if w.UserInfo == nil {
		return query.Get("email") != "" && w.ListCredentials != passkey.ListNone
	}
	for name := range query {
		if name != "action" && name != "mediation" {
			return true
		}
	}
	return false
}

func tooManyQuestions(wait time.Duration) *Response {
	res := optionsRefused("Too many requests")
	res.Status = http.StatusTooManyRequests
	res.Header.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	return res
}

// stranger returns the user that an unauthenticated client names, or nil, and whether the
// user exists. The user of a free e-mail address has no ID. Without ListKnown every address
// counts as free for a new passkey. With ListNone any other action gets nil.
func (w *webauthnProvider) stranger(ctx context.Context, r *Request, email, action string) (*User, bool, error) {
	if w.UserInfo != nil {
		return w.ownStranger(ctx, r, action)
	}
	email, err := typedMailbox(email, mailbox.Normalize)
	if err != nil {
		return nil, false, nil
	}
	if w.ListCredentials == passkey.ListNone && action != actionRegister {
		return nil, false, nil
	}
	if w.ListCredentials != passkey.ListKnown && action == actionRegister {
		return &User{Email: email}, false, nil
	}
	known, err := guarded.Optional(w.setup.store.UserByEmail(ctx, email))
	if known != nil || err != nil {
		return known, true, err
	}
	return &User{Email: email}, false, nil
}

// ownStranger does what stranger does, by asking the application's UserInfo.
func (w *webauthnProvider) ownStranger(ctx context.Context, r *Request, action string) (*User, bool, error) {
	exists := false
	found, err := hook(ctx, w.setup, "WebAuthn.UserInfo", func(ctx context.Context) (u *User, err error) {
		u, exists, err = w.UserInfo(ctx, r)
		return u, err
	})
	switch {
	case err != nil || found == nil:
		return nil, false, err
	case exists && found.ID == "":
		return nil, false, errors.New("WebAuthn.UserInfo returned a user who exists and has no ID")
	case exists && (w.ListCredentials == passkey.ListKnown || action != actionRegister):
		known, err := guarded.Optional(w.setup.store.User(ctx, found.ID))
		return known, known != nil, err
	}
	u := User{}
	if !exists { // of who does, a stranger is told nothing
		u.Name, u.Image = found.Name, found.Image
	}
	if u.Email, err = typedMailbox(found.Email, mailbox.Normalize); err != nil {
		return nil, false, err
	}
	return &u, false, nil
}

// requestOptions returns the options that ask for a passkey: one of the signed-in user or
// of the named e-mail address, or else any.
func (w *webauthnProvider) requestOptions(ctx context.Context, x *exchange, who *visitorInfo) (*Response, error) {
	c := challenge{id: w.setup.mark.newID(), Challenge: newChallenge()}
	a := passkey.Authentication{RelyingParty: w.partyOf(x.request, x.origin), Options: w.Authentication, Challenge: c.bytes()}
	if c.Second = who.second; c.isAfterFactor() {
		a.Options.UserVerification = passkey.Discouraged // they have proven another factor
	}
	if who.user != nil {
		keys, err := w.keysOf(ctx, who)
		if err != nil {
			return nil, err
		}
		asked := askedFor(who)
		c.Asked, a.Allow = &asked, keys
	}
	return w.sendOptions(ctx, &x.visit, actionAuthenticate, &c, who, func(ctx context.Context) (json.RawMessage, error) {
		return w.Ceremony.RequestOptions(ctx, a)
	})
}

// keysOf returns the passkeys that options list, for unauthenticated clients with decoys
// where the site has those. The list is never nil.
func (w *webauthnProvider) keysOf(ctx context.Context, who *visitorInfo) (keys []storage.Authenticator, err error) {
	hides := who.here == nil && who.second == "" && w.ListCredentials == passkey.ListDecoys
	switch {
	case who.exists:
		keys, err = w.setup.store.ListAuthenticators(ctx, who.user.ID)
	case hides: // the store gets the question that it gets about a user
		_, _ = w.setup.store.ListAuthenticators(ctx, secret.NewUserID())
	}
	if hides && err == nil {
		keys = w.blend(who.name, keys)
	}
	if keys == nil {
		keys = []storage.Authenticator{}
	}
	return keys, err
}

// nameAsked returns the name under which a client asks for u: the e-mail address, or else
// what UserInfo was asked with. It returns "" for a nil u.
func nameAsked(u *User, query url.Values) string {
	if u == nil {
		return ""
	}
	asked := maps.Clone(query)
	maps.DeleteFunc(asked, func(name string, _ []string) bool { return name == "action" || name == "mediation" })
	return cmp.Or(u.Email, u.ID, asked.Encode())
}

// blend returns the ids of the passkeys of a name, hidden among made-up ones (R-184,
// It leaves out what else is known of passkeys, since that differs from one
// authenticator to the next.
func (w *webauthnProvider) blend(name string, keys []storage.Authenticator) []storage.Authenticator {
	var ids [][]byte
	for _, k := range keys {
		ids = append(ids, k.CredentialID)
	}
	var shown []storage.Authenticator
	for _, id := range passkeys.Blend(w.setup.csrfSecret, w.setup.bind(w.ID+"\x00"+name), ids) {
		shown = append(shown, storage.Authenticator{CredentialID: id})
	}
	return shown
}

// mostPasskeys is how many passkeys one user can add: options list them all.
const mostPasskeys = 64

// creationOptions returns the options for a new passkey. It refuses with status 400 if
// the user needs a recent sign-in first, or has mostPasskeys.
func (w *webauthnProvider) creationOptions(ctx context.Context, x *exchange, who *visitorInfo) (*Response, error) {
	if who.here != nil && x.setup.config.AccountPage.Enabled && !x.isFresh(who.here) {
		res := optionsRefused("Recent sign-in needed")
		res.Body = append(jsonscan.AppendText(append(res.Body[:len(res.Body)-1], `,"url":`...), x.change()), '}')
		return res, nil
	}
	var keys []storage.Authenticator
	var err error
	if who.here != nil { // a stranger is told of no keys
		if keys, err = x.setup.store.ListAuthenticators(ctx, who.user.ID); err != nil {
			return nil, err
		}
	}
	if len(keys) >= mostPasskeys {
		return optionsRefused("Too many passkeys"), nil
	}
	party := w.partyOf(x.request, x.origin)
	handle := handleOf(keys)
	if handle == nil {
		handle = w.newHandle(&x.links, &party)
	}
	c := challenge{
		id: w.setup.mark.newID(), Challenge: newChallenge(), RegisterData: registerDataOf(who),
		Handle: base64.RawURLEncoding.EncodeToString(handle), Conditional: who.here != nil && x.query.Get("mediation") == "conditional",
	}
	r := w.registrationOf(party, &c)
	r.Exclude = keys
	return w.sendOptions(ctx, &x.visit, actionRegister, &c, who, func(ctx context.Context) (json.RawMessage, error) {
		return w.Ceremony.CreationOptions(ctx, r)
	})
}

// registrationOf returns what the ceremony is told of a challenge, when it is
// made and when it is answered.
func (w *webauthnProvider) registrationOf(party passkey.RelyingParty, c *challenge) passkey.Registration {
	name, displayName := shownNames(c.RegisterData)
	handle, _ := base64.RawURLEncoding.DecodeString(c.Handle)
	r := passkey.Registration{
		RelyingParty: party, Options: w.Registration, Challenge: c.bytes(), UserHandle: handle,
		UserName: name, DisplayName: displayName, Conditional: c.Conditional,
	}
	if c.Conditional && r.Options.UserVerification == passkey.Required {
		r.Options.UserVerification = passkey.Preferred // the user is not asked for it
	}
	return r
}

// handleOf returns the user handle, the name of the user in authenticators, that the
// passkeys of a user share. It returns nil if none of them has one.
func handleOf(keys []storage.Authenticator) []byte {
	if i := slices.IndexFunc(keys, hasHandle); i >= 0 {
		return keys[i].UserHandle
	}
	return nil
}

// sendOptions has the ceremony make options, stores the challenge in a cookie of the
// browser, and returns the options as JSON.
func (w *webauthnProvider) sendOptions(ctx context.Context, v *visit, action string, c *challenge, who *visitorInfo, options func(context.Context) (json.RawMessage, error)) (*Response, error) {
	made, err := hook(ctx, w.setup, "WebAuthn.Ceremony", options)
	if err != nil {
		return nil, err
	}
	if err := w.remember(v, c, who); err != nil {
		return nil, err
	}
	body, err := json.Marshal(struct {
		Action  string          `json:"action"`
		Options json.RawMessage `json:"options"`
	}{action, made})
	if err != nil {
		return nil, err
	}
	return noStore(jsonBytes(http.StatusOK, body)), nil
}
