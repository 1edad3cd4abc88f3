package dynamoadapter_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/dynamoadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/storage"
)

// couple is two people, and a third e-mail address that both may want.
type couple struct {
	*dynamoadapter.Adapter
	run string
}

func (c couple) email(n int) string { return fmt.Sprintf("%d-%s@example.com", n, c.run) }
func (c couple) id(n int) string    { return fmt.Sprintf("%s-%d", c.run, n) }

func (c couple) create(ctx context.Context, id, email int) error {
	_, err := c.CreateUser(ctx, storage.User{ID: c.id(id), Email: c.email(email)})
	return err
}

func (c couple) move(ctx context.Context, id, email int) error {
	_, err := c.UpdateUser(ctx, c.id(id), storage.UserChange{Email: new(c.email(email))})
	return err
}

func (c couple) remove(ctx context.Context, id int) error {
	_, err := c.DeleteUser(ctx, c.id(id))
	return err
}

// S-051: operations on one person meet again and again. LATCHKEY_RACES says how
// often each pair does; without it 10 times.
func TestPairs(t *testing.T) {
	client := newClient(realservers.DynamoDB(t), nil)
	t.Run("our layout", func(t *testing.T) { pairs(t, newAdapter(t, client, newTable(t, client))) })
	t.Run("Auth.js", func(t *testing.T) { pairs(t, newShared(t, client, newSharedTable(t, client))) })
}

func pairs(t *testing.T, a *dynamoadapter.Adapter) {
	ctx := t.Context()
	for name, pair := range map[string]struct {
		begin int // how many users there are before
		one   func(couple) error
		other func(couple) error
	}{
		"two sign-ups with one e-mail address": {0, func(c couple) error { return c.create(ctx, 1, 9) }, func(c couple) error { return c.create(ctx, 2, 9) }},
		"two sign-ups with one id":             {0, func(c couple) error { return c.create(ctx, 1, 8) }, func(c couple) error { return c.create(ctx, 1, 9) }},
		"sign-up and deletion":                 {1, func(c couple) error { return c.create(ctx, 2, 1) }, func(c couple) error { return c.remove(ctx, 1) }},
		"change and sign-up":                   {1, func(c couple) error { return c.move(ctx, 1, 9) }, func(c couple) error { return c.create(ctx, 2, 9) }},
		"two changes to one e-mail address":    {2, func(c couple) error { return c.move(ctx, 1, 9) }, func(c couple) error { return c.move(ctx, 2, 9) }},
		"two who swap":                         {2, func(c couple) error { return c.move(ctx, 1, 2) }, func(c couple) error { return c.move(ctx, 2, 1) }},
		"two changes of one user":              {1, func(c couple) error { return c.move(ctx, 1, 8) }, func(c couple) error { return c.move(ctx, 1, 9) }},
		"change and deletion":                  {1, func(c couple) error { return c.move(ctx, 1, 9) }, func(c couple) error { return c.remove(ctx, 1) }},
	} {
		t.Run(name, func(t *testing.T) {
			for range meetings(t) {
				c := couple{a, rand.Text()}
				for n := range pair.begin {
					ok(t, c.create(ctx, n+1, n+1))
				}
				var errs [2]error
				var both sync.WaitGroup
				both.Go(func() { errs[0] = pair.one(c) })
				both.Go(func() { errs[1] = pair.other(c) })
				both.Wait()
				for _, err := range errs {
					if err != nil && !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrNotFound) {
						t.Fatal(err)
					}
				}
				c.agree(t)
			}
		})
	}
}

func meetings(t *testing.T) int {
	t.Helper()
	text, set := os.LookupEnv("LATCHKEY_RACES")
	if !set {
		return 10
	}
	n, err := strconv.Atoi(text)
	ok(t, err)
	return n
}

// agree proves that users and e-mail addresses name each other, and that an
// e-mail address that nobody has can be had.
func (c couple) agree(t *testing.T) {
	t.Helper()
	holders := map[string]string{}
	for _, n := range []int{1, 2} {
		u, err := c.GetUser(t.Context(), c.id(n))
		if errors.Is(err, storage.ErrNotFound) {
			continue
		}
		ok(t, err)
		if other := holders[u.Email]; other != "" {
			t.Fatalf("%s and %s have one e-mail address", u.ID, other)
		}
		holders[u.Email] = u.ID
	}
	for _, n := range []int{1, 2, 8, 9} {
		email := c.email(n)
		u, err := c.GetUserByEmail(t.Context(), email)
		if err == nil && u.ID != holders[email] || err != nil && (holders[email] != "" || !errors.Is(err, storage.ErrNotFound)) {
			t.Fatalf("%s is %q's, found %q, error %v", email, holders[email], u.ID, err)
		}
		if holders[email] == "" {
			_, err := c.CreateUser(t.Context(), storage.User{Email: email})
			ok(t, err)
		}
	}
}
