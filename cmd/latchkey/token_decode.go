package main

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/jwt"
)

const aboutTokenDecode = `Open a token with the secrets of the environment and print its claims as JSON.

What is read may be the token alone, or a whole Cookie header, where a long
token is in pieces. Standard error says which secret sealed it, for which
cookie, and how long it lives. Texts that are tokens or secrets themselves, by
the names of their members, are shown as their length.

Exit code 1: the token is not one of this site's, or it has expired.`

func (p *program) tokenDecodeCommand() *cobra.Command {
	var f tokenFlags
	c := &cobra.Command{
		Use: "decode [TOKEN]", Short: "Show what a token says", Long: aboutTokenDecode,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		Example: `  latchkey token decode --env-file .env < token.txt
  pbpaste | latchkey token decode --secure | jq .email
  latchkey token decode --cookie authjs.pkce.code_verifier < token.txt`,
		RunE: does(func(_ *cobra.Command, args []string) error {
			text, err := p.input(args, "token")
			if err != nil {
				return err
			}
			return p.decode(text, f.all(p.env))
		}),
	}
	f.add(c.Flags())
	return c
}

// decode opens the token in text and prints its claims, and to standard error what sealed
// it and how long it lives. It returns errTold for a token that a site does not accept
// now. cookies are the names that the token may be for.
func (p *program) decode(text string, cookies []string) error {
	secrets := p.env.secrets()
	if len(secrets) == 0 {
		return errNoSecret
	}
	o, err := open(text, cookies, secrets)
	if err != nil {
		return err
	}
	members, err := jsonscan.Members(o.payload, nil)
	if err != nil {
		return errors.New("the token is authentic, but what it holds is no JSON object")
	}
	if _, err := p.stdout.Write(show(members)); err != nil {
		return err
	}
	fmt.Fprintf(p.stderr, "Sealed for the cookie %s with %s, secret %d of %d.\n", o.cookie, secrets[o.secret].name, o.secret+1, len(secrets))
	life, alive := lifeOf(members, p.now())
	fmt.Fprintln(p.stderr, life)
	if !alive {
		return errTold
	}
	return nil
}

// opened is a token that was found authentic.
type opened struct {
	payload []byte
	cookie  string
	secret  int // index
}

// open decrypts the token in text, with the first of the secrets and cookies that open
// it, and says which these are. The error says what to look for, and has no part of the
// token.
func open(text string, cookies []string, secrets []namedSecret) (opened, error) {
	for _, cookie := range cookies {
		token, ok := tokenIn(text, cookie)
		for i, secret := range secrets {
			if !ok {
				break
			}
			if payload, err := jwt.NewCodec([]string{secret.value}, cookie).Open(token); err == nil {
				return opened{payload, cookie, i}, nil
			}
		}
	}
	for _, cookie := range cookies {
		if token, _ := tokenIn(text, cookie); storedKey.MatchString(token) {
			return opened{}, errStoredKey
		}
	}
	return opened{}, fmt.Errorf("the token cannot be opened with %s for the cookie %s: it was changed or cut, sealed with another secret, or made for another cookie (see --cookie and --secure)",
		namesOf(secrets), strings.Join(cookies, " or "))
}

// storedKey is what Latchkey and Auth.js make for stored sessions: random bytes in
// hex, or a UUID.
var storedKey = regexp.MustCompile(`^([0-9a-f]{64}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)

var errStoredKey = errors.New("this is no sealed token: with stored sessions the cookie is a key of the store, where what it stands for is kept")

// tokenIn returns the token of a cookie in text, a Cookie header, and puts the pieces of
// a long token together. It returns false if the header has no such cookie. A text
// without = is the token itself, since a token has none.
func tokenIn(text, cookie string) (string, bool) {
	if !strings.Contains(text, "=") {
		return text, true
	}
	if name, value, ok := strings.Cut(text, ":"); ok && strings.EqualFold(strings.TrimSpace(name), "Cookie") {
		text = value
	}
	text = strings.TrimSpace(text)
	token, err := jwt.GetRawToken(http.Header{"Cookie": {text}}, jwt.TokenParams{CookieName: cookie})
	return token, err == nil
}

// namesOf returns the variables of the secrets, with commas between them.
func namesOf(secrets []namedSecret) string {
	names := make([]string, len(secrets))
	for i, s := range secrets {
		names[i] = s.name
	}
	return strings.Join(names, ", ")
}

// lifeOf returns a sentence that says how long a token lives, and reports whether a site
// accepts its times now. It does not look at revocations.
func lifeOf(members []jsonscan.Member, now time.Time) (words string, alive bool) {
	exp, dated := claimsOf(members).Time("exp")
	err := jwtclaims.Check(members, now, 0)
	distance := inWords(now.Sub(exp))
	at := exp.UTC().Format("2006-01-02 15:04:05 UTC")
	switch {
	case errors.Is(err, jwt.ErrExpired) && dated:
		return fmt.Sprintf("Expired %s ago, at %s.", distance, at), false
	case errors.Is(err, jwt.ErrExpired):
		return "Expired: it has no exp, and its iat is more than 30 days ago.", false
	case err != nil:
		return "Not valid: its times (exp, iat, nbf) are missing, no numbers, or in the future.", false
	case !dated && has(members, "exp"):
		return "Valid until after the year 9999.", true
	case !dated:
		return "Valid for 30 days after its iat: it has no exp.", true
	case now.After(exp):
		return fmt.Sprintf("Over since %s; accepted a little longer, since clocks differ.", at), true
	}
	return fmt.Sprintf("Valid for another %s, until %s.", distance, at), true
}

// has reports whether a member has this key.
func has(members []jsonscan.Member, key string) bool {
	_, ok := jsonscan.Lookup(members, key)
	return ok
}
