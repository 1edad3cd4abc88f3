package main

import (
	"slices"
	"strings"
)

func (p *program) checkSecrets(r *report) {
	secrets := p.env.secrets()
	if len(secrets) == 0 {
		r.fail("AUTH_SECRET", "is not set, so nothing can be sealed. Set it; `latchkey secret --append .env` makes one")
	}
	for i, s := range secrets {
		p.checkSecret(r, s, secrets[:i])
	}
	if p.env.get(formerSecretName) != "" && p.env.get("AUTH_SECRET") != "" && p.env.get(formerSecretName) != p.env.get("AUTH_SECRET") {
		r.warn(formerSecretName, "is not read, because AUTH_SECRET is set. Remove it, or make it AUTH_SECRET_1 if sessions depend on it")
	}
	for _, name := range p.env.names() {
		if number, ok := strings.CutPrefix(name, "AUTH_SECRET_"); ok && isNumber(number) && !slices.Contains(secretNames, name) {
			r.warn(name, "is not read: only AUTH_SECRET_1 to AUTH_SECRET_3 are. Rename it")
		}
	}
}

// checkSecret judges one secret; newer are those before it.
func (p *program) checkSecret(r *report, s namedSecret, newer []namedSecret) {
	c := validConfig()
	c.Secrets = []string{s.value}
	warned, err := tryConfig(c)
	same := slices.IndexFunc(newer, func(n namedSecret) bool { return n.value == s.value })
	switch {
	case err != nil:
		r.fail(s.name, "is blank, or a placeholder that everybody knows. Replace it; `latchkey secret` prints a fresh one")
	case warned:
		r.warn(s.name, "has fewer than 32 characters and may be guessed. Replace it (`latchkey secret --rotate` keeps sessions)")
	case same >= 0:
		r.warn(s.name, "is the same as %s, so there is no rotation. Give one of them a fresh secret, or remove it", newer[same].name)
	case len(newer) == 0:
		r.ok(s.name, "seals what is new")
	default:
		r.ok(s.name, "opens what is older")
	}
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
