package latchkey

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"slices"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/passkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// Passkeys: what the browser answers.

// Limits of what is stored of a passkey that an unauthenticated client has made
// . They hold for any Ceremony; that of module webauthn has lower ones.
const (
	longestCredentialID = 1023 // bytes: section 5.1
	longestPublicKey    = 4096 // bytes
	longestPasskeyText  = 64   // bytes of each of its texts
	mostTransports      = 8
)

// receive checks an answer and returns the assertion of its user, or an error of verify. An
// answer counts as a try of the client, except a right one that makes no user, and an outage.
// Too many are ErrWebAuthnVerification. A GET is ErrUnknownAction, bad CSRF ErrMissingCSRF.
func (w *webauthnProvider) receive(ctx context.Context, x *exchange) (outcome, error) {
	if !x.isPost() {
		return outcome{}, failure.Wrap(ErrUnknownAction, failure.Of(fault.RequestUnknown, errors.New("passkeys come by POST")))
	}
	_, given := x.form["csrfToken"]
	if (given || sentFrom(x.request.Header, x.origin.Text) == "same-site") && !x.csrfVerified {
		return outcome{}, noCSRF(x.request.Header, x.origin.Text)
	}
	try, err := x.setup.limits.Take(ctx, x.setup.limits.Answer(x.setup.requesterOf(ctx, &x.visit, nil)))
	if err != nil {
		return outcome{}, err
	}
	if try.Wait > 0 {
		return outcome{}, failure.WrapFor(ErrWebAuthnVerification, w.ID, &tooManyTries{try.Wait})
	}
	in, err := w.verify(ctx, x)
	if err != nil && !isOutage(err) {
		return outcome{}, err
	}
	if err != nil || in.Passkey == nil || in.Owner != "" { // a stranger who makes users stays counted
		if err := x.setup.limits.Return(ctx, try); err != nil {
			x.setup.log.Error(ctx, x, failure.Wrap(ErrCallbackRoute, failure.Of(fault.AnswerLost, err)))
		}
	}
	return outcome{assertion: in}, err
}

// verify checks an answer, uses up its challenge and returns the assertion of its user. It
// returns ErrInvalidCheck if the browser keeps no challenge, ErrAccountNotLinked if a new
// passkey is registered already, and ErrWebAuthnVerification for any other wrong answer.
func (w *webauthnProvider) verify(ctx context.Context, x *exchange) (*directory.Assertion, error) {
	if !w.asked(&x.visit) {
		return nil, failure.WrapFor(ErrInvalidCheck, w.ID, &failure.Mistake{Err: failure.Of(fault.PasskeyStale, errors.New("this browser was asked for no passkey, or too long ago"))})
	}
	action, answer := x.field("action"), []byte(x.field("data"))
	if action != actionRegister && action != actionAuthenticate {
		return nil, w.refused(errors.New("action is neither register nor authenticate"))
	}
	answered, id, err := answeredChallenge(answer)
	if err != nil {
		return nil, w.refused(err)
	}
	c, in, err := w.spend(ctx, &x.visit, answered, "", action == actionRegister)
	if errors.Is(err, errNoChallenge) || errors.Is(err, errSpentChallenge) {
		return nil, w.refused(err)
	}
	if err != nil {
		return nil, err
	}
	var found *directory.Assertion
	if action == actionRegister {
		found, err = w.register(ctx, w.registrationOf(w.partyOf(x.request, x.origin), c), c, id, answer)
	} else {
		found, err = w.authenticate(ctx, x, c, id, answer)
	}
	if err == nil && (c.id != "" || c.RegisterData != nil && c.RegisterData.ID == "") { // who signs up is never who is signed in
		found.BegunIn, found.BegunFresh = &in.Ref, in.Fresh
	}
	if err == nil {
		found.Issued, found.IssuedHere = in.BegunAt(0), w.setup.mark.isIn(c.id)
	}
	return found, err
}

// refused returns the ErrWebAuthnVerification for an answer that proves nothing.
func (w *webauthnProvider) refused(why error) error {
	return failure.WrapFor(ErrWebAuthnVerification, w.ID, &failure.Mistake{Err: why})
}

// register checks a new passkey and returns the assertion with it. Nothing is stored yet.
// It returns ErrWebAuthnVerification if the passkey is not right, and ErrAccountNotLinked
// if it is registered already.
func (w *webauthnProvider) register(ctx context.Context, r passkey.Registration, c *challenge, id, answer []byte) (*directory.Assertion, error) {
	key, err := hook(ctx, w.setup, "WebAuthn.Ceremony", func(ctx context.Context) (storage.Authenticator, error) { return w.Ceremony.Register(ctx, r, answer) })
	if err != nil {
		return nil, w.refused(err)
	}
	if !bytes.Equal(key.CredentialID, id) || len(key.PublicKey) == 0 || len(key.PublicKey) > longestPublicKey {
		return nil, w.refused(errors.New("the credential has not the id that it says, or no key, or one of more than 4096 bytes"))
	}
	if !isBounded(&key) {
		return nil, w.refused(errors.New("a text of the credential has more than 64 bytes, or it has more than 8 transports"))
	}
	known, err := guarded.Optional(w.setup.store.Authenticator(ctx, id))
	if err != nil {
		return nil, err
	}
	if known != nil {
		return nil, failure.WrapFor(ErrAccountNotLinked, w.ID, failure.Of(fault.PasskeyTaken, errors.New("the passkey is registered already")))
	}
	now := w.setup.now().UTC()
	key.UserID, key.ProviderAccountID = "", base64.StdEncoding.EncodeToString(id)
	key.Created, key.Used, key.UserHandle = now, now, r.UserHandle
	account := w.account(&key)
	account.Email = c.RegisterData.Email
	return &directory.Assertion{Person: *c.RegisterData, Account: account, Owner: c.RegisterData.ID, Passkey: &key}, nil
}

// isBounded reports whether the texts of a new passkey are within limits.
func isBounded(key *storage.Authenticator) bool {
	texts := append([]string{key.DeviceType, key.AAGUID, key.Name}, key.Transports...)
	return len(key.Transports) <= mostTransports && !slices.ContainsFunc(texts, func(text string) bool { return len(text) > longestPasskeyText })
}

// authenticate checks the use of a passkey, raises its counter and returns the assertion
// of its user. It returns ErrWebAuthnVerification if the passkey is unknown or the answer
// wrong.
func (w *webauthnProvider) authenticate(ctx context.Context, x *exchange, c *challenge, id, answer []byte) (*directory.Assertion, error) {
	key, err := guarded.Optional(x.setup.store.Authenticator(ctx, id))
	if err != nil {
		return nil, err
	}
	if key == nil && c.Asked != nil { // as for any wrong answer: the one that was listed may be made up
		return nil, w.refused(errors.New("no such passkey is registered"))
	}
	party := w.partyOf(x.request, x.origin)
	if key == nil {
		unknown := &unknownPasskey{}
		if w.isOwnHandle(answeredHandle(answer), &x.links, &party) {
			unknown.gone = id
		}
		return nil, &Error{Type: ErrWebAuthnVerification, Provider: w.ID, Code: codeUnknownCredential, Detail: fault.PasskeyUnknown, Err: &failure.Mistake{Err: unknown}}
	}
	a := passkey.Authentication{RelyingParty: party, Options: w.Authentication, Challenge: c.bytes()}
	if c.isAfterFactor() {
		a.Options.UserVerification = passkey.Discouraged
	}
	if c.Asked != nil {
		if secret.Hash(key.UserID) != *c.Asked {
			return nil, w.refused(errors.New("another passkey answered than was asked for"))
		}
		a.Allow = []storage.Authenticator{*key}
	}
	shown, err := hook(ctx, x.setup, "WebAuthn.Ceremony", func(ctx context.Context) (passkey.Presentation, error) {
		return w.Ceremony.Authenticate(ctx, a, *key, answer)
	})
	if err != nil {
		return nil, w.refused(err)
	}
	if err := checkHandle(c, key, shown.UserHandle); err != nil {
		return nil, w.refused(err)
	}
	if err := w.recordUse(ctx, &x.visit, key, &shown); err != nil {
		return nil, err
	}
	in := &directory.Assertion{Person: User{ID: key.UserID}, Account: w.account(key), Owner: key.UserID}
	if keepsProofs(x.setup) {
		in.AMR = factor.OfPasskey(key, shown.UserVerified)
	}
	return in, nil
}

// verifyFactor checks the answer of a passkey that was asked for as second factor, or as
// another proof in a session, and returns the AMR that it proves. mark says what it was
// asked for, as in challenge.Second. It returns ErrWebAuthnVerification for a wrong
// answer, and for the passkey of another user than userID.
func (w *webauthnProvider) verifyFactor(ctx context.Context, x *exchange, mark, userID string) ([]string, error) {
	answer := []byte(x.field("data"))
	answered, id, err := answeredChallenge(answer)
	if err != nil {
		return nil, w.refused(err)
	}
	c, _, err := w.spend(ctx, &x.visit, answered, mark, false)
	if errors.Is(err, errNoChallenge) || errors.Is(err, errSpentChallenge) {
		return nil, w.refused(err)
	}
	if err != nil { // an outage is no wrong answer
		return nil, err
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

// codeUnknownCredential tells scripts that the passkey is not registered.
const codeUnknownCredential = "unknown_credential"

// unknownPasskey is the error for a passkey that is not registered. Browsers offer
// passkeys at every site of a relying party, so most of those are another site's.
type unknownPasskey struct {
	gone []byte // the id of one that this site has made, so that browsers may forget it; nil: another site's
}

func (*unknownPasskey) Error() string { return "no such passkey is registered" }

func (w *webauthnProvider) account(k *storage.Authenticator) Account {
	return Account{Provider: w.ID, ProviderAccountID: k.ProviderAccountID, Type: TypeWebAuthn}
}

// checkHandle returns an error if the authenticator calls the user something else than it
// was told, and if it does not say whose passkey it is where no user was asked
// for. A passkey of Auth.js has no handle, and fits. Older browser scripts hand the
// authenticator the text of the handle instead of its bytes.
func checkHandle(c *challenge, key *storage.Authenticator, given []byte) error {
	asText := []byte(base64.RawURLEncoding.EncodeToString(key.UserHandle))
	switch {
	case len(key.UserHandle) == 0:
		return nil
	case given == nil && c.Asked == nil:
		return errors.New("the authenticator did not say whose passkey it is, and nobody was asked for")
	case given != nil && !bytes.Equal(given, key.UserHandle) && !bytes.Equal(given, asText):
		return errors.New("the authenticator says that the passkey is another user's")
	}
	return nil
}

// recordUse raises the counter of a passkey by compare-and-set, and stores when it was
// used. Of two uses at one value of the counter one is refused with
// ErrWebAuthnVerification, and adds an event. A store that does not take the time
// of the use is only logged.
func (w *webauthnProvider) recordUse(ctx context.Context, v *visit, key *storage.Authenticator, shown *passkey.Presentation) error {
	s := w.setup.store
	_, err := s.RaiseCounter(ctx, key.CredentialID, shown.Counter)
	if errors.Is(err, ErrConflict) {
		v.events.Add(Event{
			Type: event.PasskeyCounter, Outcome: event.Failed, Reason: ErrWebAuthnVerification, Detail: fault.PasskeyInvalid,
			UserID: key.UserID, Provider: w.ID, ProviderType: TypeWebAuthn,
		}, nil)
		return w.refused(errors.New("the counter of the passkey did not rise: there may be a copy of it"))
	}
	if errors.Is(err, ErrNotFound) {
		return w.refused(errors.New("the passkey was removed meanwhile"))
	}
	if err != nil {
		return err
	}
	now := v.now().UTC()
	if _, err := s.UpdateAuthenticator(ctx, key.CredentialID, storage.AuthenticatorChange{BackedUp: &shown.BackedUp, Used: &now}); err != nil {
		w.setup.log.Error(ctx, v.about, atProvider(w, err))
	}
	return nil
}
