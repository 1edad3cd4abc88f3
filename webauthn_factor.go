package latchkey

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/passkey"
)

// Passkeys as second factors.

// passkeyProvider returns the provider whose passkeys are second factors; nil: none.
func (s *setup) passkeyProvider() *webauthnProvider {
	for _, p := range s.order {
		if w, ok := p.(*webauthnProvider); ok {
			return w
		}
	}
	return nil
}

// factorOptions asks for a passkey of the user whose sign-in waits for a second
// factor. No user verification is demanded: the user has proven another factor.
func (w *webauthnProvider) factorOptions(ctx context.Context, x *exchange) (*Response, error) {
	handle, p, err := pendingOf(ctx, x.setup, &x.visit)
	if err != nil {
		return nil, err
	}
	if p == nil || !slices.Contains(p.Kinds, FactorPasskey) {
		return optionsRefused("Invalid request"), nil
	}
	keys, err := x.setup.store.ListAuthenticators(ctx, p.UserID)
	if err != nil {
		return nil, err
	}
	asked := secret.Hash(p.UserID)
	c := challenge{id: w.setup.mark.newID(), Challenge: newChallenge(), Asked: &asked, Second: secret.Hash(handle)}
	a := passkey.Authentication{RelyingParty: w.partyOf(x.request, x.origin), Options: w.Authentication, Challenge: c.bytes(), Allow: keys}
	a.Options.UserVerification = passkey.Discouraged
	return w.answer(ctx, &x.visit, actionAuthenticate, &c, &visitorInfo{}, func(ctx context.Context) (json.RawMessage, error) {
		return w.Ceremony.RequestOptions(ctx, a)
	})
}

// verifyFactor checks the answer of a passkey that was asked for as second factor, and
// returns what it proves.
func (w *webauthnProvider) verifyFactor(ctx context.Context, x *exchange, handle, userID string) ([]string, error) {
	answer := []byte(x.field("data"))
	answered, id, err := answeredChallenge(answer)
	if err != nil {
		return nil, w.refused(err)
	}
	c, _, err := w.spend(ctx, &x.visit, answered, secret.Hash(handle), false)
	if err != nil {
		return nil, w.refused(err)
	}
	in, err := w.authenticate(ctx, x, c, id, answer)
	if err != nil {
		return nil, err
	}
	if in.Owner != userID {
		return nil, w.refused(errNoChallenge)
	}
	return in.AMR, nil
}
