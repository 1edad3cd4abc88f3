package main

import (
	"net/url"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// checkSecrets checks each secret, and warns of variables that look like one and are not
// read.
func (d *doctor) checkSecrets() {
	secrets := d.env.secrets()
	if len(secrets) == 0 {
		d.fail("AUTH_SECRET", "is not set, so nothing can be sealed. Set it; `latchkey secret --append .env` makes one")
	}
	for i, s := range secrets {
		d.checkSecret(s, secrets[:i])
	}
	if d.env.get(formerSecretName) != "" && d.env.get("AUTH_SECRET") != "" && d.env.get(formerSecretName) != d.env.get("AUTH_SECRET") {
		d.warn(formerSecretName, "is not read, because AUTH_SECRET is set. Remove it, or make it AUTH_SECRET_1 if sessions depend on it")
	}
	for _, name := range d.env.names() {
		if number, ok := strings.CutPrefix(name, "AUTH_SECRET_"); ok && isNumber(number) && !slices.Contains(secretNames, name) {
			d.warn(name, "is not read: only AUTH_SECRET_1 to AUTH_SECRET_3 are. Rename it")
		}
	}
}

// checkSecret reports what is wrong with one secret, or what it is used for. newer are
// the secrets before it in the order of their use.
func (d *doctor) checkSecret(s namedSecret, newer []namedSecret) {
	c := validConfig()
	c.Secrets = []string{s.value}
	warned, err := tryConfig(c)
	same := slices.IndexFunc(newer, func(n namedSecret) bool { return n.value == s.value })
	switch {
	case err != nil:
		d.fail(s.name, "is blank, or a placeholder that everybody knows. Replace it; `latchkey secret` prints a fresh one")
	case warned:
		d.warn(s.name, "has fewer than 32 characters and may be guessed. Replace it (`latchkey secret --rotate` keeps sessions)")
	case secret.IsWorded(s.value) && d.isPublic():
		d.warn(s.name, "is made of words, as those of guides are, and may be guessed. Replace it (`latchkey secret --rotate` keeps sessions)")
	case same >= 0:
		d.warn(s.name, "is the same as %s, so there is no rotation. Give one of them a fresh secret, or remove it", newer[same].name)
	case len(newer) == 0:
		d.ok(s.name, "seals what is new")
	default:
		d.ok(s.name, "opens what is older")
	}
}

// isPublic reports whether the site is for others than developers: AUTH_URL has a name of
// the internet.
func (d *doctor) isPublic() bool {
	u, err := url.Parse(d.env.get("AUTH_URL"))
	return err == nil && weburl.IsPublic(strings.ToLower(u.Hostname()))
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
