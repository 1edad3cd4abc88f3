package password

import (
	"fmt"

	"github.com/latchkeyhq/latchkey"
)

// Provider returns a provider for passwords that the library keeps, with a [Hasher] of
// these options. Its Derive, which replaces that of p, fills in the fields Hasher,
// MinLength and Weakness that are empty. latchkey.New calls it, and returns an error for an
// option that is wrong. A MinLength that only p or only o has counts for both, so that the
// pages show what Weakness checks. Two that differ are an error, unless p has a Weakness.
func Provider(p latchkey.Password, o Options) *latchkey.Password {
	p.Derive = func(p *latchkey.Password) error {
		used := o
		switch {
		case used.MinLength == 0:
			used.MinLength = p.MinLength
		case p.MinLength != 0 && p.MinLength != used.MinLength && p.Weakness == nil:
			return fmt.Errorf("Password.MinLength is %d and Options.MinLength %d: set one of them", p.MinLength, o.MinLength)
		}
		h, err := New(used)
		if err != nil {
			return err
		}
		if p.Hasher == nil {
			p.Hasher = h
		}
		if p.Weakness == nil {
			p.Weakness = h.Weakness
		}
		if p.MinLength == 0 {
			p.MinLength = h.o.MinLength
		}
		return nil
	}
	return &p
}
