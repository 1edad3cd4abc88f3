package kvstore

import (
	"context"
	"errors"
	"slices"

	"github.com/latchkeyhq/latchkey/storage"
)

// EachAccount implements [storage.AccountWalker]. It leaves out the accounts of deleted
// users. Without a [WalkConn] it returns an [errors.ErrUnsupported].
func (s *Store) EachAccount(ctx context.Context, f func(storage.Account) error) error {
	if s.walker == nil {
		return errors.ErrUnsupported
	}
	return s.walker.Walk(ctx, KindAccount, func(page []Record) error {
		page = slices.DeleteFunc(slices.Clone(page), func(r Record) bool { return !r.isAlive() })
		for some := range slices.Chunk(page, atOnce) {
			list, err := s.users.accountsIn(ctx, some)
			if err != nil {
				return err
			}
			for _, a := range list {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := f(a); err != nil {
					return err
				}
			}
		}
		return ctx.Err()
	})
}

// accountsIn returns the accounts in live records, without those of users that were
// deleted. It reads the users of more than 8 records in parallel, up to 16 at a time.
func (s *userRecords) accountsIn(ctx context.Context, records []Record) (list []storage.Account, err error) {
	values := make([]*accountValue, len(records))
	all := make([]int, len(records))
	for i := range records {
		v, err := decode[accountValue](&records[i])
		if err != nil {
			return nil, err
		}
		values[i], all[i] = &v, i
	}
	err = parallel(all, func(i int) error {
		_, err := s.findOwner(ctx, values[i].owner)
		if errors.Is(err, storage.ErrNotFound) {
			values[i], err = nil, nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		if v == nil {
			continue
		}
		a, err := v.account()
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}
