package password

import "github.com/latchkeyhq/latchkey"

// Provider returns a provider for passwords that the library keeps, with a [Hasher] of
// these options. It fills in the fields of p that are empty: Hasher, MinLength and
// Weakness. latchkey.New reports an option that is wrong.
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
