package latchkey

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/jwt"
)

// What ties a passkey's answer to the options that asked for it.

// saltChallenge seals a challenge, in the words of Auth.js.
const saltChallenge = "encodedWebauthnChallenge"

// challenge is what options were made for. Challenge and RegisterData are those
// of Auth.js.
type challenge struct {
	id string // of the cookie's entry; empty: made by Auth.js

	Challenge    string  `json:"challenge"`              // in base64url
	RegisterData *User   `json:"registerData,omitempty"` // whose passkey is made; nil: one is used
	Handle       string  `json:"handle,omitempty"`       // what the authenticator calls them, in base64url
	Asked        *string `json:"asked,omitempty"`        // whose passkeys were listed, see askedFor; nil: any will do
	Conditional  bool    `json:"conditional,omitempty"`  // it may be made without asking
	Second       string  `json:"second,omitempty"`       // hash of the handle of the sign-in whose second factor it is, or proofMark; empty: it is a first one
}

// proofMark returns the Second of a challenge for another proof in a session. handle is
// that of the session's pages.
func proofMark(handle string) string { return "proof " + secret.Hash(handle) }

// isAfterFactor reports whether the passkey is asked for after another factor, so that
// the authenticator need not verify the user.
func (c *challenge) isAfterFactor() bool {
	return c.Second != "" && !strings.HasPrefix(c.Second, "proof ")
}

// forFactor reports whether the passkey is asked for as second factor, of the user of a
// waiting sign-in, or as another proof of the signed-in user. It makes that user the one
// that options are made for, or sets no user if there is none.
func (who *visitorInfo) forFactor(ctx context.Context, x *exchange, action string) (bool, error) {
	if here := who.here; action == actionAuthenticate && x.query.Get("for") == "reauth" && x.setup.config.stepsUp() {
		if who.here = nil; here != nil {
			of := pageHandle(x.setup, here.user.ID, here.mark().SessionID)
			*who = visitorInfo{user: &User{ID: here.user.ID}, exists: true, second: proofMark(of.Handle)}
		}
		return true, nil
	}
	if action != actionAuthenticate || x.query.Get("for") != "factor" || !assures(x.setup) {
		return false, nil
	}
	handle, p, err := pendingOf(ctx, x.setup, &x.visit)
	if err == nil && p != nil && slices.Contains(p.Kinds, FactorPasskey) {
		*who = visitorInfo{user: &User{ID: p.UserID}, exists: true, second: secret.Hash(handle)}
	}
	return true, err
}

// askedFor returns a hash that stands for the user of the listed passkeys. It is as long
// without a user, because the length of a cookie shows.
func askedFor(who *visitorInfo) string {
	if !who.exists {
		return secret.Hash(newChallenge())
	}
	return secret.Hash(who.user.ID)
}

// newChallenge returns 32 random bytes (section 13.4.3) in base64url.
func newChallenge() string {
	b := make([]byte, 32)
	rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

func (c *challenge) bytes() []byte {
	b, _ := base64.RawURLEncoding.DecodeString(c.Challenge)
	return b
}

// longestImage is the longest URL of a picture that waits in a cookie.
const longestImage = 512

// registerDataOf returns what the cookie keeps of the user of a new passkey.
func registerDataOf(who *visitorInfo) *User {
	u := &User{Name: who.user.Name, Email: who.user.Email}
	if who.here != nil {
		u.ID = who.user.ID
		return u
	}
	if len(who.user.Image) <= longestImage {
		u.Image = who.user.Image
	}
	return u
}

// remember puts a challenge into the cookie of the browser, beside those of other tabs.
func (w *webauthnProvider) remember(v *visit, c *challenge, who *visitorInfo) error {
	now := v.now()
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	claims := jwt.Claims{}
	if err := json.Unmarshal(raw, &claims); err != nil {
		return err
	}
	sealed, err := w.setup.challengeCodec.SealClaims(claims, now, browser.CheckMaxAge)
	if err != nil {
		return err
	}
	h := browser.CheckValue{ID: c.id, Value: sealed, Provider: w.ID, Expires: now.Add(browser.CheckMaxAge).Unix()}
	h.Begun = now.UnixMilli()
	if who.here != nil {
		h.Ref, h.Fresh = who.here.mark(), v.isFresh(who.here)
	}
	return v.cookies.BeginChallenge(h, w.setup.config.Security.OneFlow, now)
}

var (
	errNoChallenge    = errors.New("no challenge of this browser, for this purpose, is the one that was answered")
	errSpentChallenge = errors.New("this challenge was answered before")
)

// asked reports whether the browser keeps a challenge of this provider.
func (w *webauthnProvider) asked(v *visit) bool {
	held := v.cookies.CheckValues(browser.Challenge, v.now())
	return slices.ContainsFunc(held, func(h browser.CheckValue) bool { return h.Provider == w.ID })
}

// spend returns the challenge that was answered and how it began. The challenge is then
// used up, whatever becomes of the answer. It returns errNoChallenge if this
// browser keeps no such challenge for this purpose, which second and registers say, and
// errSpentChallenge if it was answered before.
func (w *webauthnProvider) spend(ctx context.Context, v *visit, answered, second string, registers bool) (*challenge, browser.FlowOrigin, error) {
	now := v.now()
	for _, h := range v.cookies.CheckValues(browser.Challenge, now) {
		c, ok := w.open(&h, now)
		if !ok || answered == "" || !secret.Equal(c.Challenge, answered) || (c.RegisterData != nil) != registers || !secret.Equal(c.Second, second) {
			continue
		}
		unused, err := w.setup.replay.Use(ctx, w.setup.trust.clientAddr(v.request), "challenge of "+w.ID, c.Challenge, now.Add(browser.CheckMaxAge+time.Minute))
		if err == nil {
			err = v.cookies.EndChallenge(&h, now)
		}
		if err == nil && !unused {
			err = errSpentChallenge
		}
		h.Begun = h.BegunAt(h.Expires).UnixMilli()
		return c, h.FlowOrigin, err
	}
	return nil, browser.FlowOrigin{}, errNoChallenge
}

// open reads an entry of the cookie. It returns false if the entry is of another
// provider, or was not sealed by this site, or has expired.
func (w *webauthnProvider) open(h *browser.CheckValue, now time.Time) (*challenge, bool) {
	if h.Provider != w.ID {
		return nil, false
	}
	claims, err := w.setup.challengeCodec.OpenClaims(h.Value, now, browser.CheckMaxAge)
	if err != nil {
		return nil, false
	}
	c := &challenge{id: h.ID}
	raw, err := json.Marshal(claims)
	if err != nil || json.Unmarshal(raw, c) != nil || len(c.bytes()) < 16 {
		return nil, false
	}
	return c, true
}

// longestAnswer is the limit of an answer in bytes. A registration with an
// attestation of several certificates takes 12 KiB.
const longestAnswer = 64 << 10

// answerBounds limit the JSON of an answer, and the client data inside of it.
var answerBounds = jsonscan.Bounds{Values: 500, Depth: 16}

// answeredChallenge returns the challenge that an answer is for, and the id of its
// credential. It verifies neither. It returns an error if the answer is malformed or too
// large.
func answeredChallenge(answer []byte) (challenge string, credentialID []byte, err error) {
	var said struct {
		ID       string `json:"id"`
		Response struct {
			ClientData string `json:"clientDataJSON"`
		} `json:"response"`
	}
	if len(answer) > longestAnswer || !answerBounds.Holds(answer) {
		return "", nil, errors.New("the answer is longer than 64 KiB, or has too many or too deeply nested values")
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		return "", nil, errors.New("the answer is no JSON of a credential")
	}
	if credentialID, err = base64.RawURLEncoding.Strict().DecodeString(said.ID); err != nil || len(credentialID) == 0 || len(credentialID) > longestCredentialID {
		return "", nil, errors.New("the answer has no id in base64url")
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(said.Response.ClientData)
	if err != nil || !answerBounds.Holds(raw) {
		return "", nil, errors.New("clientDataJSON is not in base64url, or has too many or too deeply nested values")
	}
	var client struct {
		Challenge string `json:"challenge"`
	}
	if err := json.Unmarshal(raw, &client); err != nil {
		return "", nil, errors.New("clientDataJSON is no JSON object with a challenge")
	}
	return client.Challenge, credentialID, nil
}

// answeredHandle returns what an authenticator calls the user, or no bytes if the answer does
// not say. Nothing has been verified.
func answeredHandle(answer []byte) []byte {
	var said struct {
		Response struct {
			UserHandle string `json:"userHandle"`
		} `json:"response"`
	}
	_ = json.Unmarshal(answer, &said) // which answeredChallenge has read
	handle, _ := base64.RawURLEncoding.DecodeString(said.Response.UserHandle)
	return handle
}
