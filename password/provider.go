package password

import "github.com/latchkeyhq/latchkey"

// Provider returns a provider for passwords that the library keeps, with a [Hasher] of
// these options. Its Derive, which replaces that of p, fills in the fields Hasher,
// MinLength and Weakness that are empty, when latchkey.New calls it. latchkey.New
// returns an error for an option that is wrong. The Weakness that is filled in checks
// o.MinLength, also if p.MinLength is set: the pages only show p.MinLength, so set
// o.MinLength instead.
func Provider(p latchkey.Password, o Options) *latchkey.Password {
	p.Derive = func(p *latchkey.Password) error {
		h, err := New(o)
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
