package main

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"
)

const aboutSecret = `Print a fresh secret: 33 random bytes as 44 characters.

Latchkey seals sessions and signs cookies with it. Keep it out of version
control, and give every deployment its own.

To replace a secret without signing anybody out, add the new one as
AUTH_SECRET_1 and leave AUTH_SECRET in place: --rotate finds the next free name
among AUTH_SECRET_1, _2 and _3. The highest number seals; all of them open. When
the oldest sessions are over (30 days, unless the site says otherwise), remove
the old secret: give AUTH_SECRET the value of AUTH_SECRET_1, and so on.

If a secret has leaked, do not rotate: replace it. JWT sessions end; stored ones go on.`

func (p *program) secretCommand() *cobra.Command {
	var s secretFlags
	c := &cobra.Command{
		Use: "secret", Short: "Make a secret, or the next one in a rotation", Long: aboutSecret, Args: cobra.NoArgs,
		Example: `  latchkey secret                          the secret alone
  latchkey secret --env                    AUTH_SECRET=…
  latchkey secret --append .env            straight into a file, never onto the screen
  latchkey secret --append .env --rotate   the next one, beside those in the file`,
		RunE: does(func(*cobra.Command, []string) error { return p.secret(s) }),
	}
	c.Flags().BoolVar(&s.env, "env", false, "print it as AUTH_SECRET=…")
	c.Flags().StringVar(&s.file, "append", "", "add it to an environment `file` instead of printing it")
	c.Flags().BoolVar(&s.rotate, "rotate", false, "use the next free name; looks at the file, or at the environment")
	return c
}

type secretFlags struct {
	env, rotate bool
	file        string
}

// secret prints a new secret, alone or as NAME=value, or adds it to the file of --append
// and prints the name alone.
func (p *program) secret(s secretFlags) error {
	if !s.env && !s.rotate && s.file == "" {
		_, err := fmt.Fprintln(p.stdout, newSecret())
		return err
	}
	have, err := p.taken(s)
	if err != nil {
		return err
	}
	name, err := nextSecretName(have, s.rotate)
	if err != nil {
		return err
	}
	line := name + "=" + newSecret()
	if s.file != "" {
		if err := appendLine(s.file, line); err != nil {
			return err
		}
		line = name + " is in " + s.file + " now"
	}
	_, err = fmt.Fprintln(p.stdout, line)
	return err
}

// taken returns the variables beside which a new secret is put: those of the file of
// --append, which may be missing, or else with --rotate those of the environment. Without
// both flags it returns none.
func (p *program) taken(s secretFlags) (environment, error) {
	switch {
	case s.file != "":
		have, err := readEnvFile(s.file)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return have, err
	case s.rotate:
		return p.env, nil
	}
	return nil, nil
}

// newSecret returns 33 random bytes in base64, which are 44 characters.
func newSecret() string {
	random := make([]byte, 33)
	_, _ = rand.Read(random) // ends the program rather than fail
	return base64.StdEncoding.EncodeToString(random)
}

// nextSecretName returns the variable for a new secret beside those of have: AUTH_SECRET, or
// the one after the highest number, because the secret with the highest number seals. It
// returns an error if AUTH_SECRET_3 is taken, or if have has a secret and rotate is false.
func nextSecretName(have environment, rotate bool) (string, error) {
	last := -1
	for i, name := range secretNames {
		if have.get(name) != "" {
			last = i
		}
	}
	if last < 0 && have.get(formerSecretName) != "" {
		last = 0 // it stands in for AUTH_SECRET
	}
	switch {
	case last < 0:
		return secretNames[0], nil
	case !rotate:
		return "", errors.New("there is a secret already: use --rotate to add another one beside it")
	case last+1 == len(secretNames):
		return "", errors.New("AUTH_SECRET_3 is taken: retire the oldest secret first, by giving AUTH_SECRET the value of AUTH_SECRET_1, AUTH_SECRET_1 that of AUTH_SECRET_2, and so on, and removing AUTH_SECRET_3")
	}
	return secretNames[last+1], nil
}
