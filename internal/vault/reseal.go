package vault

import "github.com/latchkeyhq/latchkey/storage"

// Sealing is how the tokens of a row are stored.
type Sealing struct {
	Plain   bool   // some are not sealed
	Older   bool   // some are sealed under a key that is not the newest
	Unknown string // the id of a key that is not there; empty: every token opens
}

// Look returns how the tokens of an account are stored. The key of a value that does not
// open counts as unknown: the key is missing, or the row was changed or has moved.
func (s *Seals) Look(provider, id string, t storage.Tokens) (l Sealing) {
	for _, f := range sealedFields(&t) {
		key := KeyIDOf(*f.value)
		switch {
		case *f.value == "":
		case key == "":
			l.Plain = true
		default:
			if _, _, err := s.Open(Place{provider, id, f.name}, *f.value); err != nil {
				l.Unknown = key
			}
			l.Older = l.Older || len(s.keys) > 0 && key != s.keys[0].id
		}
	}
	return l
}

// Reseal returns the tokens of a row sealed under the newest key, or in clear if the
// seals are plain. It leaves a token in clear as it is, because its grant is not known
// before its next renewal. An error is ErrTokenKey.
func (s *Seals) Reseal(provider, id string, t storage.Tokens) (storage.Tokens, error) {
	for _, f := range sealedFields(&t) {
		key := KeyIDOf(*f.value)
		if key == "" || !s.plain && key == s.keys[0].id {
			continue
		}
		at := Place{provider, id, f.name}
		token, grant, err := s.Open(at, *f.value)
		if err != nil {
			return storage.Tokens{}, err
		}
		*f.value = s.Seal(at, grant, token)
	}
	return t, nil
}
