package latchkey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/latchkeyhq/latchkey/internal/browser"
	challenges "github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/storage"
)

// The code beside a magic link, and what both of them prove.

// prepareCode checks the fields about codes.
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

// keep has the browser keep what its request for a mail needs: the link that it alone
// may use, and the handle of the code.
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

// newCode returns a code for a link, with its handle. Both are empty where mails have
// no codes. A mailbox at whose codes too many wrong guesses were made gets none, and
// its browser a handle that names nothing.
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

// receiveCode takes the link of a code that was typed where the mail was asked for.
// A code that does not fit leads back to the page with the field.
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

// redeemCode trades a code for the row of its link, and returns the callback URL of
// the request for the mail. A try is counted before it is compared, and a right one
// is given back.
func (p *emailProvider) redeemCode(ctx context.Context, v *visit, typed string) (row storage.VerificationToken, to string, err error) {
	wrong := func(why error) error { return failure.WrapFor(ErrVerification, p.ID, &failure.Mistake{Err: why}) }
	kept := v.cookies.MailCode(v.now(), max(p.MaxAge, challenges.CodeLife))
	if kept.For != p.ID {
		return row, "", wrong(errors.New("the code was asked for in another browser"))
	}
	stands, fits, err := p.codes.TryCode(ctx, kept.Handle, p.ID)
	if errors.Is(err, ErrNotFound) || errors.Is(err, challenges.ErrSpent) {
		return row, "", wrong(errors.New("the code has expired, was used, or was tried too often"))
	}
	if err != nil {
		return row, "", err
	}
	limits := p.setup.limits
	user, err := guarded.Optional(p.setup.store.UserByEmail(ctx, stands.Identifier))
	if err != nil {
		return row, "", err
	}
	try, err := limits.Take(ctx, limits.CodeTry(stands.Identifier, p.setup.requesterOf(ctx, v, func(k browser.Known) bool {
		return user != nil && isKnownFor(ctx, p.setup, k, user.ID)
	})))
	switch {
	case err != nil:
		return row, "", err
	case try.Wait > 0:
		return row, "", wrong(errors.New("too many wrong codes for one mailbox, or of one client"))
	}
	if err := fits(typed); err != nil {
		return row, "", wrong(err)
	}
	if row, err = p.take(ctx, v, stands.Identifier, stands.Link); err != nil {
		return row, "", err
	}
	if undo := errors.Join(limits.Return(ctx, try), limits.ReturnMail(ctx, row.Identifier), p.codes.End(ctx, challenges.Code, kept.Handle)); undo != nil {
		p.setup.log.Error(ctx, v.about, failure.Wrap(ErrCallbackRoute, undo))
	}
	return row, stands.CallbackURL, nil
}

// take removes the link with a hash and returns it, if it is still good.
func (p *emailProvider) take(ctx context.Context, v *visit, email, hash string) (storage.VerificationToken, error) {
	row, err := p.setup.store.UseVerificationToken(ctx, email, hash)
	switch {
	case errors.Is(err, ErrNotFound):
		err = failure.WrapFor(ErrVerification, p.ID, errors.New("the link is unknown or was used"))
	case err != nil:
	case email == "":
		err = failure.WrapFor(ErrVerification, p.ID, errors.New("the link belongs to another mailbox"))
	case !v.now().Before(row.Expires):
		err = failure.WrapFor(ErrVerification, p.ID, errors.New("the link has expired"))
	case p.hasManyCodes():
		err = p.checkNewest(ctx, &row)
	}
	return row, err
}

// proven returns what a link or its code has proven.
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
