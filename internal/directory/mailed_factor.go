package directory

import (
	"context"

	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// ChooseMail makes mailed codes a second factor of the user, and ends the other sessions of
// the user. For the user's first factor it returns new recovery codes, if the site offers
// them. It returns ErrUnproven if the e-mail address of the user is not proven, because
// codes to such an address prove nothing, ErrConflict if the user has chosen before, and
// ErrNotFound if the site offers no mailed codes. It adds the event FactorAdded.
func ChooseMail(ctx context.Context, d *Factors, q *Outbox, c FactorChange) (codes []string, err error) {
	if !d.offers(storage.FactorEmail) {
		return nil, storage.ErrNotFound
	}
	err = d.changeFactors(ctx, q, c, func(ctx context.Context, s *Store, u *storage.User, held *factor.Held) error {
		switch {
		case !held.HasMail:
			return ErrUnproven
		case held.Has(storage.FactorEmail):
			return storage.ErrConflict
		}
		now := d.Now().UTC()
		codes, err = addFactor(ctx, d, q, s, held, storage.Factor{ID: secret.RandomHex(16), UserID: u.ID, Kind: storage.FactorEmail, Created: now, Used: now})
		return err
	})
	return codes, err
}
