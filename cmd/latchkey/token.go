package main

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/latchkeyhq/latchkey"
)

const aboutToken = `Open or make the sealed tokens of session cookies, with the secrets of the
environment.

A token is sealed for one cookie: the cookie's name is part of the key. It is
authjs.session-token on http and __Secure-authjs.session-token on https, or
__Host-authjs.session-token where the site asks for that prefix.

Hand tokens over on standard input: arguments stay in the shell's history and
are visible to everybody on the machine.`

func (p *program) tokenCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "token", Short: "Open or make a session token", Long: aboutToken,
		Example: "  latchkey token decode < token.txt\n  echo '{\"sub\":\"42\"}' | latchkey token encode",
	}
	return group(c, p.tokenDecodeCommand(), p.tokenEncodeCommand())
}

// sessionCookies are the names that Latchkey gives the session cookie.
var sessionCookies = []string{"authjs.session-token", "__Secure-authjs.session-token", "__Host-authjs.session-token"}

// tokenFlags are the flags that say for which cookie a token is.
type tokenFlags struct {
	cookie string
	secure bool
	given  func(flag string) bool
}

// add adds the flags to those of a command.
func (f *tokenFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.cookie, "cookie", "", "`name` of the cookie, which is the salt; for sites that chose one, and for other cookies")
	flags.BoolVar(&f.secure, "secure", false, "the site is served over https (default: what AUTH_URL says)")
	f.given = flags.Changed
}

// one returns the name of the cookie that a new token is for: that of --cookie, or else
// the session cookie for http or https, as --secure or the site's URL says.
func (f *tokenFlags) one(e environment) string {
	secure := f.secure
	if !f.given("secure") {
		site := strings.ToLower((latchkey.Config{}).WithEnv(e.get).Site.URL)
		secure = site != "" && !strings.HasPrefix(site, "http://")
	}
	switch {
	case f.cookie != "":
		return f.cookie
	case secure:
		return sessionCookies[1]
	}
	return sessionCookies[0]
}

// all returns the names of the cookies that a token to be opened may be for: one, if
// --cookie or --secure is given, and otherwise all names of session cookies.
func (f *tokenFlags) all(e environment) []string {
	if f.cookie != "" || f.given("secure") {
		return []string{f.one(e)}
	}
	return slices.Clone(sessionCookies)
}

var errNoSecret = errors.New("there is no secret: set AUTH_SECRET as the site has it, or name its file with --env-file")

// mostInput bounds what is read from standard input, in bytes.
const mostInput = 1 << 20

// input returns the only argument, or else what standard input has up to mostInput bytes,
// without space around it. It returns a wrongUsage if standard input is empty or a
// terminal. what names the input in that error. An argument may be empty.
func (p *program) input(args []string, what string) (string, error) {
	if len(args) > 0 {
		return strings.TrimSpace(args[0]), nil
	}
	if isTerminal(p.stdin) { // a terminal cuts lines at 4096 characters, and tokens are longer
		return "", usage("there is no %s: give it on standard input, such as < file, or as an argument", what)
	}
	text, err := io.ReadAll(io.LimitReader(p.stdin, mostInput))
	if err != nil {
		return "", errors.New("standard input cannot be read")
	}
	if trimmed := strings.TrimSpace(string(text)); trimmed != "" {
		return trimmed, nil
	}
	return "", usage("there is no %s on standard input", what)
}

func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
