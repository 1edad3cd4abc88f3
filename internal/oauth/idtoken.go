package oauth

import (
	"context"
	"crypto"
	_ "crypto/sha256" // for at_hash
	_ "crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

// IDTokenCheck holds what a sign-in expects of its ID token.
type IDTokenCheck struct {
	// Nonce is the one that was sent. Empty: none was, and the token must have
	// none either.
	Nonce string

	// Clients are the client ids that the token may be for, beside this client's own.
	Clients []string

	// AccessToken came with the ID token; at_hash, if there, must match it.
	AccessToken string

	// Demands are those of the request that was sent. Without a MaxAge that of
	// the provider's own parameters counts, if any.
	Demands

	// Begun is when the request was sent. A max_age of zero demands a sign-in
	// since then. Zero: unknown, and the present counts instead.
	Begun time.Time

	// Original are the claims of the ID token that a refreshed one follows:
	// same issuer, subject, audience and party, and nonce and auth_time the
	// same where the new one has them (OpenID Connect Core 12.2). Nonce is then
	// not looked at. nil: this is a sign-in.
	Original map[string]any
}

// maxFuture is how far ahead the provider's clock may be when it states the
// time of issue. Of a token of the far future something else is wrong.
const maxFuture = 5 * time.Minute

// maxSubject is the limit of OpenID Connect Core section 2. A store that cuts
// longer subjects would merge two users.
const maxSubject = 255

// VerifyIDToken returns the claims of an ID token that passes every check of OpenID
// Connect Core 3.1.3.7, its signature included. With want.Original, the checks of 12.2
// replace those of nonce, auth_time and acr. Numbers are json.Number. It may fetch
// metadata and keys. Its errors are *StepError. The error wraps ErrUnmet if the token is
// good but does not meet want.Demands or the provider's max_age.
func (c *Client) VerifyIDToken(ctx context.Context, idToken string, want IDTokenCheck) (map[string]any, error) {
	if idToken == "" {
		return nil, fail(StepIDToken, "missing")
	}
	m, err := c.Discover(ctx)
	if err != nil {
		return nil, err
	}
	token, err := c.open(ctx, m, idToken)
	if err != nil {
		return nil, inStep(StepIDToken, err)
	}
	if err := c.checkIDToken(m, token, want); err != nil {
		return nil, &StepError{Step: StepIDToken, Err: err}
	}
	return token.claims, nil
}

// checkIDToken returns the first error that VerifyIDToken finds in the claims, or nil.
func (c *Client) checkIDToken(m *Metadata, token *signed, want IDTokenCheck) error {
	claims := token.claims
	if err := checkDates(claims); err != nil {
		return err
	}
	if err := c.checkIssuerClaim(m, claims); err != nil {
		return err
	}
	if err := c.checkAudience(claims, want.Clients); err != nil {
		return err
	}
	if err := c.checkTimes(claims); err != nil {
		return err
	}
	if err := checkSubject(claims); err != nil {
		return err
	}
	if err := checkAccessTokenHash(token, want.AccessToken); err != nil {
		return err
	}
	if want.Original != nil {
		return checkSameLogin(claims, want.Original)
	}
	if err := checkNonce(claims, want.Nonce); err != nil {
		return err
	}
	limit := want.MaxAge
	if limit == nil {
		limit, _ = maxAgeIn(m.query)
	}
	if err := c.checkAuthTime(claims, limit, want.Begun); err != nil {
		return err
	}
	return checkACR(claims, want.ACR)
}

// checkIssuerClaim requires iss to be the issuer, as issuedBy judges it.
func (c *Client) checkIssuerClaim(m *Metadata, claims map[string]any) error {
	issuer, ok := claims["iss"].(string)
	switch {
	case !ok:
		return failed(CheckIssuer, "iss is not the configured issuer: it is missing or no text")
	case !c.issuedBy(m, issuer, claims):
		return failed(CheckIssuer, "iss is not the configured issuer: %s", c.issuerMismatch(issuer, m))
	}
	return nil
}

// checkSubject requires printable ASCII; the standard requires ASCII. Two subjects
// must not look alike or be stored alike.
func checkSubject(claims map[string]any) error {
	sub, ok := claims["sub"].(string)
	switch {
	case !ok || sub == "":
		return errors.New("sub is missing or no text")
	case len(sub) > maxSubject:
		return fmt.Errorf("sub is longer than the %d characters that OpenID Connect allows", maxSubject)
	case strings.ContainsFunc(sub, func(r rune) bool { return r < ' ' || r > '~' }):
		return errors.New("sub holds something else than printable ASCII")
	}
	return nil
}

// checkAudience requires aud to name this client or a client in others. azp, if stated,
// must name such a client, too. Further audiences need an azp, and have to be among
// Config.Audiences unless that is nil.
func (c *Client) checkAudience(claims map[string]any, others []string) error {
	isOurs := func(client string) bool {
		return client != "" && (client == c.config.ClientID || slices.Contains(others, client))
	}
	audience, ok := audienceOf(claims)
	if !ok || !slices.ContainsFunc(audience, isOurs) {
		return failed(CheckAudience, "aud does not name this client")
	}
	party, stated := claims["azp"]
	if name, _ := party.(string); stated && !isOurs(name) {
		return failed(CheckAudience, "azp names another client")
	}
	for _, other := range audience {
		switch {
		case isOurs(other):
		case !stated:
			return errors.New("aud names others too and azp is missing")
		case c.config.Audiences != nil && !slices.Contains(c.config.Audiences, other):
			return errors.New("aud names others that are not allowed")
		}
	}
	return nil
}

// audienceOf reads aud, a string or an array of strings. It returns false for all else.
func audienceOf(claims map[string]any) ([]string, bool) {
	switch aud := claims["aud"].(type) {
	case string:
		return []string{aud}, true
	case []any:
		list, err := allStrings(aud, "aud")
		return list, err == nil
	}
	return nil, false
}

// checkTimes requires exp and iat, and compares them and nbf with the clock. checkDates
// has checked that those which are there are numbers.
func (c *Client) checkTimes(claims map[string]any) error {
	now := float64(c.config.Time().UnixMilli()) / 1000
	leeway := c.config.Leeway.Seconds()
	exp, ok := seconds(claims["exp"])
	if !ok {
		return errors.New("exp is missing or not a time")
	}
	if now >= exp+leeway {
		return clockError(CheckExpired, "expired: exp is", exp, now)
	}
	iat, ok := seconds(claims["iat"])
	if !ok {
		return errors.New("iat is missing or not a time")
	}
	if iat > now+maxFuture.Seconds() {
		return clockError(CheckEarly, "from the future: iat is", iat, now)
	}
	if nbf, stated := seconds(claims["nbf"]); stated && nbf > now+leeway {
		return clockError(CheckEarly, "not valid yet: nbf is", nbf, now)
	}
	return nil
}

// clockError returns an error with both times: either clock may be wrong.
func clockError(c Check, text string, stated, now float64) error {
	show := func(seconds float64) string { return time.Unix(int64(seconds), 0).UTC().Format(time.RFC3339) }
	return failed(c, "%s %s, and the clock here says %s", text, show(stated), show(now))
}

// checkDates requires the times in a token to be numbers (RFC 7519 section 2).
func checkDates(claims map[string]any) error {
	for _, name := range []string{"exp", "iat", "nbf", "auth_time"} {
		if value, stated := claims[name]; stated {
			if _, ok := seconds(value); !ok {
				return errors.New(name + " is not a time")
			}
		}
	}
	return nil
}

// authTimeLeeway is how much older than max_age a sign-in at the provider may
// be: clocks differ, and the browser needs time to come back from there.
const authTimeLeeway = time.Minute

// ErrUnmet reports that an ID token is good, and does not say what the request
// demanded: how recently the user signed in at the provider, or by what means.
var ErrUnmet = errors.New("the sign-in at the provider is not the one that was demanded")

// checkAuthTime returns an ErrUnmet if auth_time is missing, in the future, or more than
// limit seconds before now (OpenID Connect Core 3.1.3.7, 13), with some leeway. A nil
// limit allows everything. A limit of zero counts from begun, unless that is zero.
func (c *Client) checkAuthTime(claims map[string]any, limit *int64, begun time.Time) error {
	if limit == nil {
		return nil
	}
	at, ok := seconds(claims["auth_time"])
	if !ok {
		return fmt.Errorf("%w: auth_time is missing although max_age was asked for", ErrUnmet)
	}
	now := c.config.Time()
	since := now
	if *limit == 0 && !begun.IsZero() {
		since = begun
	}
	oldest := float64(since.UnixMilli())/1000 - float64(*limit) - authTimeLeeway.Seconds()
	if newest := float64(now.UnixMilli())/1000 + maxFuture.Seconds(); at < oldest || at > newest {
		return fmt.Errorf("%w: auth_time is longer ago than max_age allows, or in the future", ErrUnmet)
	}
	return nil
}

// checkACR returns an ErrUnmet unless acr is one of values. Empty values allow any acr.
func checkACR(claims map[string]any, values []string) error {
	if acr, ok := claims["acr"].(string); len(values) > 0 && (!ok || !slices.Contains(values, acr)) {
		return fmt.Errorf("%w: acr is none of acr_values", ErrUnmet)
	}
	return nil
}

// checkNonce requires nonce to equal sent. If sent is empty, there must be no nonce.
func checkNonce(claims map[string]any, sent string) error {
	value, stated := claims["nonce"]
	if sent == "" {
		if stated {
			return failed(CheckNonce, "nonce was not asked for")
		}
		return nil
	}
	nonce, _ := value.(string)
	if subtle.ConstantTimeCompare([]byte(nonce), []byte(sent)) != 1 {
		return failed(CheckNonce, "nonce is missing or another one")
	}
	return nil
}

// checkAccessTokenHash compares at_hash with the left half of the access token's hash
// (OpenID Connect Core 3.1.3.8). It returns nil if either is missing.
func checkAccessTokenHash(token *signed, accessToken string) error {
	value, stated := token.claims["at_hash"]
	if !stated || accessToken == "" {
		return nil
	}
	hash := hashOf(token.alg).New()
	hash.Write([]byte(accessToken))
	sum := hash.Sum(nil)
	if value != base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2]) {
		return errors.New("at_hash does not match the access token")
	}
	return nil
}

// hashOf returns the hash function of a signature algorithm: SHA-512 for EdDSA.
func hashOf(alg string) crypto.Hash {
	switch alg[len(alg)-3:] {
	case "256":
		return crypto.SHA256
	case "384":
		return crypto.SHA384
	}
	return crypto.SHA512
}

// checkSameLogin requires a refreshed ID token to have iss, sub, azp and aud of the
// first. If it has nonce or auth_time, they must be those of the first, too.
func checkSameLogin(claims, original map[string]any) error {
	for _, name := range []string{"iss", "sub", "azp"} {
		if claims[name] != original[name] {
			return errors.New(name + " differs from the original ID token")
		}
	}
	now, _ := audienceOf(claims)
	then, _ := audienceOf(original)
	slices.Sort(now)
	slices.Sort(then)
	if !slices.Equal(now, then) {
		return errors.New("aud differs from the original ID token")
	}
	if nonce, stated := claims["nonce"]; stated && !reflect.DeepEqual(nonce, original["nonce"]) {
		return errors.New("nonce differs from the original ID token")
	}
	if value, stated := claims["auth_time"]; stated {
		now, ok := seconds(value)
		then, known := seconds(original["auth_time"])
		if !ok || !known || now != then {
			return errors.New("auth_time differs from the original ID token")
		}
	}
	return nil
}

// seconds reads a NumericDate (RFC 7519 section 2). It returns false unless value is a
// number from 0 on. Claims that were stored in between may hold a float64.
func seconds(value any) (float64, bool) {
	var s float64
	switch value := value.(type) {
	case json.Number:
		var err error
		if s, err = value.Float64(); err != nil {
			return 0, false
		}
	case float64:
		s = value
	default:
		return 0, false
	}
	return s, s >= 0 && !math.IsInf(s, 0)
}
