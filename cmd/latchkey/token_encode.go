package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/jwt"
)

const aboutTokenEncode = `Seal claims, a JSON object, into a token and print it.

The newest secret seals. iat, exp and jti are set anew, whatever the claims say
about them. Whoever has the token is signed in as whom it names: make one for
tests, and keep it as one keeps a password.`

func (p *program) tokenEncodeCommand() *cobra.Command {
	var f tokenFlags
	maxAge := span(jwt.DefaultMaxAge)
	c := &cobra.Command{
		Use: "encode [CLAIMS]", Short: "Make a token", Long: aboutTokenEncode,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		Example: `  echo '{"sub":"42","email":"ada@example.com"}' | latchkey token encode
  latchkey token encode --secure --max-age 10m '{"sub":"42"}'`,
		RunE: does(func(_ *cobra.Command, args []string) error {
			text, err := p.input(args, "JSON object")
			if err != nil {
				return err
			}
			return p.encode(text, f.one(p.env), time.Duration(maxAge))
		}),
	}
	f.add(c.Flags())
	c.Flags().Var(&maxAge, "max-age", "how long it lives")
	return c
}

// encode seals the JSON object in text with the newest secret for a cookie, with iat, exp
// and jti set anew, and prints the token.
func (p *program) encode(text, cookie string, maxAge time.Duration) error {
	secrets := p.env.secrets()
	if len(secrets) == 0 {
		return errNoSecret
	}
	if maxAge < time.Second {
		return usage("--max-age: want at least one second")
	}
	members, err := jsonscan.Members([]byte(text), nil)
	if err != nil {
		return errors.New("the claims are no JSON object")
	}
	payload := jwtclaims.AppendIssued(nil, members, p.now(), maxAge)
	token, err := jwt.NewCodec([]string{secrets[0].value}, cookie).Seal(payload)
	if err != nil {
		return errors.New("the claims are too long for a token, or the secret is blank or too short")
	}
	if _, err := fmt.Fprintln(p.stdout, token); err != nil {
		return err
	}
	fmt.Fprintf(p.stderr, "Sealed for the cookie %s with %s, valid for %s.\n", cookie, secrets[0].name, inWords(maxAge))
	return nil
}
