package latchkey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	challenges "github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// What a magic link's token has to be like, and what guesses at it cost. Without a
// limit on tries only its randomness keeps it from being guessed; where tries are
// counted and few, six digits will do for a while.

const (
	enoughBits   = 128              // beyond guessing
	fewestBits   = 19               // six digits, with tries that are few
	shortMaxAge  = 15 * time.Minute // of links with fewer than enoughBits
	mostTries    = 20               // in LinkTries, for the same
	tokenSamples = 4
	mostSamples  = 16 // of tokens that look short: numbers lose their zeros in front
	spareBits    = 8  // chance makes some places look constant, and some tokens shorter
)

var errWeakToken = errors.New("Email.NewToken makes tokens that can be guessed: want at least 128 random bits, such as crypto/rand.Text; " +
	"six digits or more need Email.MaxAge of 15 minutes at most, and Limits that are on with at most 20 LinkTries")

// checkTokens returns an error if NewToken makes tokens that can be guessed. It returns nil if
// NewToken fails, as it may at the start. It sets shortTokens, and replaces a nil NewToken.
func (p *emailProvider) checkTokens(limits *limit.Limits) error {
	if p.NewToken == nil {
		p.NewToken = func() (string, error) { return secret.RandomHex(32), nil }
		return nil
	}
	var samples []string
	bits := 0.0
	for len(samples) < tokenSamples || len(samples) < mostSamples && bits < enoughBits {
		token, err := guarded.ContainResult(p.NewToken)
		if err != nil {
			return nil
		}
		samples, bits = append(samples, token), math.Max(bits, secret.BitsOf(token))
	}
	bits = math.Min(bits, secret.VaryingBits(samples)+spareBits)
	p.shortTokens = bits < enoughBits
	fewTries := !limits.Off() && limits.LinkAttempts().Events <= mostTries && p.MaxAge <= shortMaxAge
	if bits < fewestBits || p.shortTokens && !fewTries {
		return fmt.Errorf("%w; these have about %d", errWeakToken, int(bits))
	}
	return nil
}

// freshToken returns the token of a new link, or errWeakToken if NewToken makes weaker
// tokens than New has seen. As a token may look weak by chance, it makes up to four, and
// accepts one with up to spareBits less than enoughBits.
func (p *emailProvider) freshToken() (string, error) {
	for range tokenSamples {
		token, err := guarded.ContainResult(p.NewToken)
		if err != nil {
			return "", err
		}
		if bits := secret.BitsOf(token); bits >= enoughBits-spareBits || p.shortTokens && bits >= fewestBits {
			return token, nil
		}
	}
	return "", errWeakToken
}

// purposeLink marks the cookie of the browser that asked for a link.
const purposeLink = "email-link"

// bind sets the cookie that lets this browser use the link with a hash, with SameBrowser.
func (p *emailProvider) bind(v *visit, hash string) error {
	k, now := &v.cookies.Specs.Link, v.now()
	sealed, err := k.Codec.SealClaims(jwt.Claims{"value": hash, "provider": p.ID, "purpose": purposeLink}, now, p.MaxAge)
	if err != nil {
		return err
	}
	v.cookies.Set(k.New(sealed, now.Add(p.MaxAge)))
	return nil
}

// boundTo returns the hash of the link that a browser asked for, or "".
func (p *emailProvider) boundTo(v *visit) string {
	if kept := v.cookies.MailCode(v.now(), p.MaxAge); kept.For == p.ID {
		return kept.Link
	}
	k := &v.cookies.Specs.Link
	value, _ := v.cookies.Value(k)
	claims, err := k.Codec.OpenClaims(value, v.now(), p.MaxAge)
	if err != nil || claims.String("purpose") != purposeLink || claims.String("provider") != p.ID {
		return ""
	}
	return claims.String("value")
}

// redemption returns what a try at a mailbox's links counts under. Long tokens cannot be
// guessed, and count for the client alone; others count for the mailbox, too. Instead of
// the mailbox, SameBrowser counts for the link that the browser can use, if any.
func (p *emailProvider) redemption(ctx context.Context, v *visit, email string) (limit.Event, error) {
	limits := p.setup.limits
	if !p.shortTokens {
		return limits.Redemption("", p.setup.requesterOf(ctx, v, nil)), nil
	}
	if p.SameBrowser {
		if hash := p.boundTo(v); hash != "" {
			return limits.RedemptionOf(hash, p.setup.requesterOf(ctx, v, nil)), nil
		}
		return limits.Redemption("", p.setup.requesterOf(ctx, v, nil)), nil
	}
	user, err := guarded.Optional(p.setup.store.UserByEmail(ctx, email))
	if err != nil {
		return limit.Event{}, failure.WrapFor(ErrVerification, p.ID, err)
	}
	return limits.Redemption(email, p.setup.requesterOf(ctx, v, func(k browser.Known) bool {
		return user != nil && isKnownFor(ctx, p.setup, k, user.ID)
	})), nil
}

// hasManyCodes reports whether one guess would be compared with every code that was
// sent to a mailbox. With SameBrowser it is compared with the browser's own.
func (p *emailProvider) hasManyCodes() bool { return p.shortTokens && !p.SameBrowser }

// countMail counts a mail to a mailbox and returns zero, or how long to wait. Short codes
// to one mailbox have to be a second apart, so that one of them is the newest.
func (p *emailProvider) countMail(ctx context.Context, email string, who limit.Requester) (time.Duration, error) {
	limits := p.setup.limits
	mail, err := limits.Take(ctx, limits.Mail(email, who))
	if err != nil || mail.Wait > 0 || !p.hasManyCodes() {
		return mail.Wait, err
	}
	code, err := limits.Take(ctx, limits.Code(email))
	if err == nil && code.Wait > 0 {
		err = limits.Return(ctx, mail)
	}
	return code.Wait, err
}

// checkNewest returns an ErrVerification if a newer link was sent to the mailbox of row.
func (p *emailProvider) checkNewest(ctx context.Context, row *storage.VerificationToken) error {
	newest, err := p.newest.IsNewest(ctx, row.Identifier, row.Expires)
	if err == nil && !newest {
		err = failure.WrapFor(ErrVerification, p.ID, failure.Of(fault.LinkNewer, errors.New("a newer link was sent to the mailbox")))
	}
	return err
}

// sharedRevocations returns the store in which the instances of the site remember
// together what is void, or nil.
func sharedRevocations(s *setup) storage.RevocationStore {
	switch {
	case s.revocations != nil:
		return s.revocations.Store
	case s.store == nil || s.store.Revocations == nil || !directory.CanRevoke(s.store.Revocations, s.bounds):
		return nil
	}
	return s.store.Revocations
}

// prepareCode checks the fields about codes, and sets p.codes if mails have codes.
func (p *emailProvider) prepareCode() error {
	fill.Default(&p.CodeLength, mostDigits)
	switch {
	case !p.Code:
		return nil
	case p.CodeLength < fewestDigits || p.CodeLength > mostDigits:
		return fmt.Errorf("Email.CodeLength must be %d to %d; zero is %d", fewestDigits, mostDigits, mostDigits)
	case p.shortTokens:
		return errors.New("Email.Code puts a code of its own beside the link: leave NewToken out, or have it make 128 random bits")
	}
	p.about.needs = append(p.about.needs, directory.AbilityChallenges)
	p.about.codeRoute, p.about.codeDigits = "callback/"+p.ID, p.CodeLength
	if s := p.setup; s.store != nil && s.store.Has(directory.AbilityChallenges) {
		p.codes = &challenges.Rows{Box: challenges.NewBox(s.config.Secrets, s.tenant), Store: s.store.Challenges(), Now: s.now}
	}
	return nil
}

const fewestDigits, mostDigits = 6, 8 // of a code

// keep sets the cookie that the browser needs for a mail: with SameBrowser it holds the
// hash of the link, and where mails have codes the handle of the code.
func (p *emailProvider) keep(v *visit, hash, handle string) error {
	switch {
	case p.codes != nil && !p.SameBrowser:
		return v.cookies.SetMailCode(browser.MailCode{Handle: handle, For: p.ID}, v.now(), challenges.CodeLife)
	case p.codes != nil:
		return v.cookies.SetMailCode(browser.MailCode{Handle: handle, For: p.ID, Link: hash}, v.now(), max(p.MaxAge, challenges.CodeLife))
	case p.SameBrowser && hash != "":
		return p.bind(v, hash)
	}
	return nil
}

// keepDecoy sets cookies like those of keep after a mail that was not sent, so that they
// do not tell of the limits of a mailbox. The browser can still use its earlier link.
func (p *emailProvider) keepDecoy(v *visit) error {
	hash := p.boundTo(v)
	if hash == "" {
		hash = secret.HashWith(secret.RandomHex(32), p.hashSecret)
	}
	return p.keep(v, hash, challenges.NewHandle())
}

// newCode returns a code for a link, with its handle. Both are empty where mails have
// no codes. A mailbox gets none after too many wrong guesses at its codes, and its
// browser gets a handle that names nothing.
func (p *emailProvider) newCode(ctx context.Context, callbackURL string, link *storage.VerificationToken, who limit.Requester) (handle, code string, err error) {
	if p.codes == nil {
		return "", "", nil
	}
	limits := p.setup.limits
	who.Client = "" // which the mail was counted for
	try, err := limits.Take(ctx, limits.CodeTry(link.Identifier, who))
	if err != nil {
		return "", "", err
	}
	if try.Wait > 0 {
		return challenges.NewHandle(), "", nil
	}
	if err := limits.Return(ctx, try); err != nil {
		return "", "", err
	}
	return p.codes.CreateCode(ctx, challenges.MailCode{
		For: p.ID, Identifier: link.Identifier, Link: link.Token, CallbackURL: callbackURL,
	}, p.CodeLength)
}

// receiveCode uses up a posted code and the link of its mail, in the browser that asked
// for the mail. A code that does not fit leads back to the page with the field.
func (p *emailProvider) receiveCode(ctx context.Context, x *exchange) (outcome, error) {
	if !x.csrfVerified {
		return outcome{}, failure.WrapFor(ErrMissingCSRF, p.ID, withOrigin(x.request.Header, x.origin.Text, errNoCSRF))
	}
	typed := x.field("code")
	x.hide(typed)
	row, to, err := p.redeemCode(ctx, &x.visit, typed)
	if errors.Is(err, ErrVerification) {
		x.setup.log.Error(ctx, x, err)
		return outcome{response: &Response{
			Redirect: x.url("verify-request?provider=" + url.QueryEscape(p.ID) + "&type=email&error=" + url.QueryEscape(string(ErrVerification))),
		}}, nil
	}
	if err != nil {
		return outcome{}, err
	}
	x.cookies.Forget(&x.cookies.Specs.Link)
	x.callbackURL = cmp.Or(to, x.callbackURL)
	return p.proven(&row)
}

// redeemCode uses up a typed code and its link, and returns the row of the link and the
// callback URL of the request for the mail. A wrong or void code is ErrVerification. It
// counts the try before it compares, and takes the count of a right one back.
func (p *emailProvider) redeemCode(ctx context.Context, v *visit, typed string) (row storage.VerificationToken, to string, err error) {
	wrong := func(why error) error {
		return failure.WrapFor(ErrVerification, p.ID, &failure.Mistake{Err: failure.Of(fault.CodeWrong, why)})
	}
	kept := v.cookies.MailCode(v.now(), max(p.MaxAge, challenges.CodeLife))
	if kept.For != p.ID {
		return row, "", wrong(errors.New("the code was asked for in another browser"))
	}
	limits := p.setup.limits
	var try limit.Try
	err = directory.TryMailCode(ctx, p.codes, kept.Handle, p.ID, func(stands challenges.MailCode, fits func(string) error) error {
		user, err := guarded.Optional(p.setup.store.UserByEmail(ctx, stands.Identifier))
		if err != nil {
			return err
		}
		try, err = limits.Take(ctx, limits.CodeTry(stands.Identifier, p.setup.requesterOf(ctx, v, func(k browser.Known) bool {
			return user != nil && isKnownFor(ctx, p.setup, k, user.ID)
		})))
		switch {
		case err != nil:
			return err
		case try.Wait > 0:
			return wrong(errors.New("too many wrong codes for one mailbox, or of one client"))
		}
		if err := fits(typed); err != nil {
			return wrong(err)
		}
		to = stands.CallbackURL
		row, err = p.take(ctx, v, stands.Identifier, stands.Link)
		return err
	})
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, challenges.ErrSpent):
		return row, "", wrong(errors.New("the code has expired, was used, or was tried too often"))
	case err != nil:
		return row, "", err
	}
	if undo := errors.Join(limits.Return(ctx, try), limits.ReturnMail(ctx, row.Identifier), p.codes.End(ctx, challenges.Code, kept.Handle)); undo != nil {
		p.setup.log.Error(ctx, v.about, failure.Wrap(ErrCallbackRoute, failure.Of(fault.AnswerLost, undo)))
	}
	return row, to, nil
}

// take removes the link with a hash and returns it. It returns ErrVerification if the link is
// unknown, expired, of another mailbox or, where hasManyCodes returns true, not the newest.
func (p *emailProvider) take(ctx context.Context, v *visit, email, hash string) (storage.VerificationToken, error) {
	row, err := p.setup.store.UseVerificationToken(ctx, email, hash)
	switch {
	case errors.Is(err, ErrNotFound):
		err = failure.WrapFor(ErrVerification, p.ID, failure.Of(fault.LinkUsed, errors.New("the link is unknown or was used")))
	case err != nil:
	case email == "":
		err = failure.WrapFor(ErrVerification, p.ID, failure.Of(fault.LinkMailbox, errors.New("the link belongs to another mailbox")))
	case !v.now().Before(row.Expires):
		err = failure.WrapFor(ErrVerification, p.ID, failure.Of(fault.LinkExpired, errors.New("the link has expired")))
	case p.hasManyCodes():
		err = p.checkNewest(ctx, &row)
	}
	return row, err
}

// proven returns the assertion of the address to which a link or its code was sent.
func (p *emailProvider) proven(row *storage.VerificationToken) (outcome, error) {
	email, err := mailbox.Canonical(row.Identifier) // Auth.js may have sent the link
	if err != nil {
		return outcome{}, err
	}
	return outcome{assertion: &directory.Assertion{
		Person:        User{Email: email},
		Account:       p.account(email),
		ProvesEmail:   true,
		EmailVerified: true,
		Issued:        row.Expires.Add(-p.MaxAge),
		Counted:       true,
	}}, nil
}

func (p *emailProvider) account(email string) Account {
	return Account{Provider: p.ID, ProviderAccountID: email, Type: TypeEmail, Email: email, EmailVouched: true}
}
