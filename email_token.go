package latchkey

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// What a magic link's token has to be like, and what guesses at it cost. Without a
// limit on tries only its randomness keeps it from being guessed; where tries are
// counted and few, six digits will do for a while.

const (
	enoughBits   = 128              // nobody guesses those
	fewestBits   = 19               // six digits, with tries that are few
	shortMaxAge  = 15 * time.Minute // of links with fewer than enoughBits
	mostTries    = 20               // in LinkTries, for the same
	tokenSamples = 4
	mostSamples  = 16 // of tokens that look short: numbers lose their zeros in front
	spareBits    = 8  // chance makes some places look constant, and some tokens shorter
)

var errWeakToken = errors.New("Email.NewToken makes tokens that can be guessed: want at least 128 random bits, such as crypto/rand.Text; " +
	"six digits or more need Email.MaxAge of 15 minutes at most, and Limits that are on with at most 20 LinkTries")

// checkTokens checks the tokens of NewToken before any link is sent. It ignores
// a NewToken that fails: it may need what is not there yet.
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
		samples, bits = append(samples, token), math.Max(bits, bitsOf(token))
	}
	bits = math.Min(bits, varyingBits(samples)+spareBits)
	p.shortTokens = bits < enoughBits
	fewTries := !limits.Off() && limits.LinkAttempts().Events <= mostTries && p.MaxAge <= shortMaxAge
	if bits < fewestBits || p.shortTokens && !fewTries {
		return fmt.Errorf("%w; these have about %d", errWeakToken, int(bits))
	}
	return nil
}

// freshToken makes the token of a link. It returns an error if NewToken makes
// weaker tokens than those New has seen. By chance a token may look weaker than it
// is, so that there is a second one, and as much to spare as in checkTokens.
func (p *emailProvider) freshToken() (string, error) {
	for range tokenSamples {
		token, err := guarded.ContainResult(p.NewToken)
		if err != nil {
			return "", err
		}
		if bits := bitsOf(token); bits >= enoughBits-spareBits || p.shortTokens && bits >= fewestBits {
			return token, nil
		}
	}
	return "", errWeakToken
}

// purposeLink marks the cookie of the browser that asked for a link.
const purposeLink = "email-link"

// bind makes a browser the only one that can use the link.
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

// redemption returns what a try at the links of a mailbox is counted under. Only
// tries that may be right count for others than the client: no client guesses long
// tokens, and with SameBrowser a browser can use the link alone that it asked for.
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

// countMail counts a mail to a mailbox and returns zero, or how long to wait. Two
// codes within one second are one, so that a later one is newer.
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

// checkNewest returns an error for a code that another one was sent after.
func (p *emailProvider) checkNewest(ctx context.Context, row *storage.VerificationToken) error {
	newest, err := p.newest.IsNewest(ctx, row.Identifier, row.Expires)
	if err == nil && !newest {
		err = failure.WrapFor(ErrVerification, p.ID, errors.New("a newer link was sent to the mailbox"))
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

// bitsOf returns an upper bound of a token's entropy, by its length and the
// smallest usual alphabet with all of its characters. The hyphens of a UUID are no
// part of it.
func bitsOf(token string) float64 {
	plain := token
	if uuidShape.MatchString(token) {
		plain = strings.ReplaceAll(token, "-", "")
	}
	return float64(len(plain)) * math.Log2(float64(alphabetOf(plain)))
}

var uuidShape = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

func alphabetOf(token string) int {
	const digits, lower, upper = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, characters := range []string{digits, digits + "abcdef", digits + "ABCDEF", digits + lower, digits + upper, digits + lower + upper} {
		if strings.Trim(token, characters) == "" {
			return len(characters)
		}
	}
	return 64
}

// varyingBits leaves out the places that are the same in all samples: a prefix,
// a constant, the date in front of a counter.
func varyingBits(samples []string) float64 {
	varying := strings.Builder{}
	for i := range len(samples[0]) {
		for _, other := range samples[1:] {
			if i >= len(other) || other[i] != samples[0][i] {
				varying.WriteByte(samples[0][i])
				break
			}
		}
	}
	return bitsOf(varying.String())
}
