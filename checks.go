package latchkey

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/jwt"
)

// Checks tie a callback to the sign-in that began it. Each value is sealed into
// a cookie of its own, as the original does it: {"value", "provider"}. Beside
// the newest sign-in a cookie carries those begun shortly before, so that two
// tabs do not destroy each other; readers that know nothing of that see the
// newest one.

const (
	mostFlows = 4 // sign-ins under way in one browser

	saltState = "encodedState"
)

// flow is one sign-in under way: the values its callback has to bring.
type flow struct {
	id                     string // joins what three cookies hold of it; empty: made by the original
	verifier, state, nonce string
	userID                 string // who was signed in when it began; empty: nobody, or the session cookie says
	landing                string // where this visitor goes in the end; empty: the callback cookie says
}

// heldValue is what one cookie holds of one flow.
type heldValue struct {
	ID       string `json:"id,omitempty"`
	Value    string `json:"value"`
	Provider string `json:"provider"`
	Expires  int64  `json:"until,omitempty"`
	Landing  string `json:"landing,omitempty"`
	UserID   string `json:"user,omitempty"` // who was signed in; only where the callback cannot tell
}

func (v *visit) checkKind(c Check) *cookieKind {
	switch c {
	case CheckPKCE:
		return &v.kinds.pkce
	case CheckState:
		return &v.kinds.state
	}
	return &v.kinds.nonce
}

func (f *flow) value(c Check) *string {
	switch c {
	case CheckPKCE:
		return &f.verifier
	case CheckState:
		return &f.state
	}
	return &f.nonce
}

// stateParam is the state to send along. Where it is no check of its own it is
// derived from the value that is one, so that no cookie has to hold it: servers
// that demand a state have one, and two sign-ins under way can be told apart.
func (f *flow) stateParam() string {
	if key := firstOf(f.verifier, f.nonce); f.state == "" && key != "" {
		return derivedState(key)
	}
	return f.state
}

// derivedState hashes a check value under a label, so that it is neither the
// value nor its PKCE challenge.
func derivedState(value string) string {
	sum := sha256.Sum256([]byte("latchkey state\x00" + value))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// newFlow makes the values for the checks. origin is the callback address that
// a redirect proxy has to know; empty: there is none between.
func (v *visit) newFlow(checks []Check, origin string) (*flow, error) {
	f := &flow{id: randomHex(8)}
	for _, c := range checks {
		switch c {
		case CheckPKCE:
			f.verifier = oauth.NewVerifier()
		case CheckNonce:
			f.nonce = oauth.NewVerifier()
		case CheckState:
			claims := jwt.Claims{"random": oauth.NewVerifier()}
			if origin != "" {
				claims["origin"] = origin
			}
			var err error
			if f.state, err = v.stateCodec().SealClaims(claims, v.now(), checkMaxAge); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

// beginFlow hands the flow to the browser.
func (v *visit) beginFlow(p *oauthProvider, f *flow, checks []Check) error {
	for _, c := range checks {
		held := heldValue{ID: f.id, Value: *f.value(c), Provider: p.ID, Expires: v.soon(checkMaxAge).Unix(), Landing: v.callbackURL, UserID: f.userID}
		earlier := v.heldValues(c)
		if len(earlier) >= mostFlows {
			earlier = earlier[:mostFlows-1]
		}
		if err := v.hold(p, c, append([]heldValue{held}, earlier...)); err != nil {
			return err
		}
	}
	return nil
}

// hold seals values, newest first, into the cookie of a check.
func (v *visit) hold(p *oauthProvider, c Check, values []heldValue) error {
	k := v.checkKind(c)
	claims := jwt.Claims{"value": values[0].Value, "provider": values[0].Provider, "purpose": string(c), "id": values[0].ID}
	if values[0].Landing != "" {
		claims["landing"] = values[0].Landing
	}
	if values[0].UserID != "" {
		claims["user"] = values[0].UserID
	}
	if len(values) > 1 {
		claims["earlier"] = values[1:]
	}
	sealed, err := k.codec.SealClaims(claims, v.now(), checkMaxAge)
	if err != nil {
		return err
	}
	cookie := k.make(sealed, v.soon(checkMaxAge))
	cookie.MaxAge = int(checkMaxAge / time.Second)
	if p.formPost() { // the provider posts from its own site
		cookie.SameSite, cookie.Secure = http.SameSiteNoneMode, true
	}
	v.setCookie(cookie)
	return nil
}

// heldValues are the values in the cookie of a check, newest first.
func (v *visit) heldValues(c Check) []heldValue {
	k := v.checkKind(c)
	value, ok := v.cookieValue(k)
	if !ok {
		return nil
	}
	claims, err := k.codec.OpenClaims(value, v.now(), checkMaxAge)
	if err != nil {
		return nil
	}
	if purpose, tagged := claims["purpose"]; tagged && purpose != string(c) {
		return nil
	}
	newest := heldValue{
		ID: claims.String("id"), Value: claims.String("value"), Provider: claims.String("provider"),
		Landing: claims.String("landing"), UserID: claims.String("user"),
	}
	if until, ok := claims.Time("exp"); ok {
		newest.Expires = until.Unix() // it may be an earlier one by the time it is written again
	}
	held := []heldValue{newest}
	return append(held, earlierValues(claims["earlier"], v.now().Unix())...)
}

func earlierValues(list any, now int64) []heldValue {
	if list == nil {
		return nil
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return nil
	}
	var values []heldValue
	if json.Unmarshal(raw, &values) != nil || len(values) > mostFlows {
		return nil
	}
	return slices.DeleteFunc(values, func(h heldValue) bool { return h.Expires <= now })
}

// errCheck: the callback does not belong to a sign-in that this browser began.
func errCheck(p *oauthProvider, text string) error { return ErrInvalidCheck.at(p.ID, errors.New(text)) }

// findState finds the sign-in that a callback's state belongs to.
func (v *visit) findState(p *oauthProvider, f *flow, checks []Check, state string) error {
	is := func(h heldValue) bool { return equalText(h.Value, state) }
	if slices.Contains(checks, CheckState) {
		return v.find(p, f, CheckState, is)
	}
	if state != "" && slices.ContainsFunc(v.heldValues(CheckState), is) {
		return v.find(p, f, CheckState, is) // the provider had not said yet that it supports S256
	}
	return nil
}

// findRest finds the other values of the same sign-in: the one that the state
// names, or else the newest at this provider. Auth.js begins some without a
// state, and where it is no check of its own, one that names nothing is ignored.
func (v *visit) findRest(p *oauthProvider, f *flow, checks []Check, state string) error {
	is := func(heldValue) bool { return true }
	if f.state != "" {
		is = f.isPartOf
	}
	for _, c := range []Check{CheckPKCE, CheckNonce} {
		if !slices.Contains(checks, c) {
			continue
		}
		named := func(h heldValue) bool { return h.Provider == p.ID && equalText(derivedState(h.Value), state) }
		if f.id == "" && slices.ContainsFunc(v.heldValues(c), named) {
			is = named
		}
		if err := v.find(p, f, c, is); err != nil {
			return err
		}
		is = f.isPartOf
	}
	return nil
}

// isPartOf tells the values that were made for the same sign-in.
func (f *flow) isPartOf(h heldValue) bool { return h.ID == f.id }

func (v *visit) find(p *oauthProvider, f *flow, c Check, is func(heldValue) bool) error {
	held := v.heldValues(c)
	i := slices.IndexFunc(held, func(h heldValue) bool { return h.Provider == p.ID && h.Value != "" && is(h) })
	if i < 0 {
		return errCheck(p, "the "+string(c)+" cookie is missing, or belongs to another sign-in")
	}
	f.id, *f.value(c), f.userID = held[i].ID, held[i].Value, held[i].UserID
	if _, remembered := v.jar.Get(v.kinds.callbackURL.name()); i > 0 || !remembered {
		// Another tab has a newer address, or the cookie stayed away because the
		// provider posts from its own site.
		f.landing = held[i].Landing
	}
	return nil
}

// spendFlow makes sure that a flow completes at most one callback, and
// takes it out of the browser's cookies.
func (v *visit) spendFlow(ctx context.Context, p *oauthProvider, f *flow, checks []Check) error {
	if key := firstOf(f.state, f.verifier, f.nonce); key != "" {
		sum := sha256.Sum256([]byte(p.ID + "\x00" + key))
		unused, err := containResult(func() (bool, error) {
			return v.once.Use(ctx, hex.EncodeToString(sum[:]), v.soon(checkMaxAge+time.Minute))
		})
		if err != nil {
			return err
		}
		if !unused {
			return errCheck(p, "this sign-in was completed before")
		}
	}
	for _, c := range checks {
		if err := v.dropFlow(p, c, f.id); err != nil {
			return err
		}
	}
	return nil
}

// dropFlow forgets one flow; the others stay.
func (v *visit) dropFlow(p *oauthProvider, c Check, id string) error {
	rest := slices.DeleteFunc(v.heldValues(c), func(h heldValue) bool { return h.ID == id })
	if len(rest) == 0 {
		v.setCookie(v.checkKind(c).clear(v.checkKind(c).name()))
		return nil
	}
	return v.hold(p, c, rest)
}

// stateOrigin reads where a state wants to be sent on to; empty: nowhere.
func (v *visit) stateOrigin(state string) (string, error) {
	claims, err := v.stateCodec().OpenClaims(state, v.now(), checkMaxAge)
	if err != nil {
		return "", err
	}
	if claims.String("random") == "" {
		return "", jwt.ErrInvalid
	}
	return claims.String("origin"), nil
}

// dropFlows forgets every sign-in under way: somebody has signed out, and what
// they began must not be finished in their name.
func (v *visit) dropFlows() {
	for _, c := range []Check{CheckPKCE, CheckState, CheckNonce} {
		k := v.checkKind(c)
		if _, there := v.jar.Get(k.name()); there {
			v.setCookie(k.clear(k.name()))
		}
	}
}
