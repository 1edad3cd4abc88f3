package natsadapter_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/natsadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// repeats is how often a race is run: LATCHKEY_RACES says so, or it is the usual.
func repeats(t *testing.T, usual int) int {
	t.Helper()
	text, set := os.LookupEnv("LATCHKEY_RACES")
	if !set {
		return usual
	}
	n, err := strconv.Atoi(text)
	ok(t, err)
	return n
}

// scene is two people, 1 and 2, an account, and e-mail addresses that both may want.
type scene struct {
	*natsadapter.Adapter
	run string
}

func (s scene) id(n int) string    { return fmt.Sprintf("%s-%d", s.run, n) }
func (s scene) email(n int) string { return s.id(n) + "@example.com" }

type step func(ctx context.Context, s scene) error

func create(id, email int) step {
	return func(ctx context.Context, s scene) error {
		_, err := s.CreateUser(ctx, storage.User{ID: s.id(id), Email: s.email(email)})
		return err
	}
}

func move(id, email int) step {
	return func(ctx context.Context, s scene) error {
		to := s.email(email)
		_, err := s.UpdateUser(ctx, s.id(id), storage.UserChange{Email: &to})
		return err
	}
}

func remove(id int) step {
	return func(ctx context.Context, s scene) error {
		_, err := s.DeleteUser(ctx, s.id(id))
		return err
	}
}

func link(id int) step {
	return func(ctx context.Context, s scene) error {
		return s.LinkAccount(ctx, storage.Account{UserID: s.id(id), Provider: "acme", ProviderAccountID: s.run})
	}
}

// begin is a sign-up by the account, as the library does it.
func begin(id int) step {
	return func(ctx context.Context, s scene) error {
		begun, err := s.BeginSignUp(ctx, "acme", s.run, s.id(id))
		if err == nil && begun == s.id(id) {
			err = create(id, 9)(ctx, s)
		}
		return err
	}
}

// pairs: two operations on one person meet again and again. LATCHKEY_RACES says how
// often each pair does; without it 40 times.
func pairs(t *testing.T, a *natsadapter.Adapter) {
	var runs atomic.Int64
	for name, pair := range map[string]struct {
		before     []step
		one, other step
	}{
		"two sign-ups with one e-mail address": {nil, create(1, 9), create(2, 9)},
		"two sign-ups with one id":             {nil, create(1, 8), create(1, 9)},
		"sign-up and deletion":                 {[]step{create(1, 1)}, create(2, 1), remove(1)},
		"change and sign-up":                   {[]step{create(1, 1)}, move(1, 9), create(2, 9)},
		"two changes to one e-mail address":    {[]step{create(1, 1), create(2, 2)}, move(1, 9), move(2, 9)},
		"two who swap":                         {[]step{create(1, 1), create(2, 2)}, move(1, 2), move(2, 1)},
		"two changes of one user":              {[]step{create(1, 1)}, move(1, 8), move(1, 9)},
		"change and deletion":                  {[]step{create(1, 1)}, move(1, 9), remove(1)},
		"link and deletion":                    {[]step{create(1, 1)}, link(1), remove(1)},
		"two links of one account":             {[]step{create(1, 1), create(2, 2)}, link(1), link(2)},
		"a sign-up that is begun twice":        {nil, begin(1), begin(2)},
	} {
		t.Run(name, func(t *testing.T) {
			const sides = 4
			n := repeats(t, 40)
			var all sync.WaitGroup
			for side := range sides {
				all.Go(func() {
					for i := side; i < n && !t.Failed(); i += sides {
						s := scene{a, fmt.Sprint("r", runs.Add(1))}
						s.play(t, pair.before...)
						var both sync.WaitGroup
						both.Go(func() { s.play(t, pair.one) })
						both.Go(func() { s.play(t, pair.other) })
						both.Wait()
						s.agree(t)
					}
				})
			}
			all.Wait()
		})
	}
}

// play takes steps that may come too late.
func (s scene) play(t *testing.T, steps ...step) {
	t.Helper()
	for _, f := range steps {
		if err := f(t.Context(), s); err != nil && !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrNotFound) {
			t.Error(err)
		}
	}
}

// agree proves that users and e-mail addresses name each other, that the account
// is a living user's or nobody's, and that what nobody has can be had.
func (s scene) agree(t *testing.T) {
	t.Helper()
	holders := map[string]string{}
	for _, n := range []int{1, 2} {
		u, err := s.GetUser(t.Context(), s.id(n))
		if err == nil {
			if other := holders[u.Email]; other != "" {
				t.Errorf("%s and %s have one e-mail address", u.ID, other)
			}
			holders[u.Email] = u.ID
		} else if !errors.Is(err, storage.ErrNotFound) {
			t.Error(err)
		}
	}
	for _, n := range []int{1, 2, 8, 9} {
		s.agreeOn(t, s.email(n), holders[s.email(n)])
	}
	u, err := s.GetUserByAccount(t.Context(), "acme", s.run)
	if err == nil && holders[u.Email] != u.ID || err != nil && !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the account is %q's, who is nobody; error %v", u.ID, err)
	}
	for _, holder := range holders {
		if err != nil {
			if err := s.LinkAccount(t.Context(), storage.Account{UserID: holder, Provider: "acme", ProviderAccountID: s.run}); err != nil {
				t.Errorf("the account is nobody's and cannot be linked: %v", err)
			}
			return
		}
	}
}

// agreeOn proves that an e-mail address finds its holder, and can be had if there
// is none.
func (s scene) agreeOn(t *testing.T, email, holder string) {
	t.Helper()
	u, err := s.GetUserByEmail(t.Context(), email)
	if err == nil && u.ID != holder || err != nil && (holder != "" || !errors.Is(err, storage.ErrNotFound)) {
		t.Errorf("%s is %q's, found %q, error %v", email, holder, u.ID, err)
	}
	if holder == "" {
		if _, err := s.CreateUser(t.Context(), storage.User{Email: email}); err != nil {
			t.Errorf("%s is nobody's and cannot be had: %v", email, err)
		}
	}
}
