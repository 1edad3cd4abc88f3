package redisadapter_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/storage"
)

// stage is where two operations on one person meet, with names of its own.
type stage struct {
	*redisadapter.Adapter
	run int
}

func (s stage) id(name string) string    { return fmt.Sprintf("%s-%d", name, s.run) }
func (s stage) email(name string) string { return s.id(name) + "@example.com" }

func (s stage) create(ctx context.Context, id, email string) error {
	_, err := s.CreateUser(ctx, storage.User{ID: s.id(id), Email: s.email(email)})
	return err
}

func (s stage) change(ctx context.Context, id, email string) error {
	to := s.email(email)
	_, err := s.UpdateUser(ctx, s.id(id), storage.UserChange{Email: &to})
	return err
}

func (s stage) link(ctx context.Context, id string) error {
	return s.LinkAccount(ctx, storage.Account{UserID: s.id(id), Provider: "acme", ProviderAccountID: s.id("account")})
}

func (s stage) remove(ctx context.Context, id string) error {
	_, err := s.DeleteUser(ctx, s.id(id))
	return err
}

type act func(ctx context.Context, s stage) error

// pairs are what meets; before makes what both begin with.
var pairs = []struct {
	name          string
	before        []act
	first, second act
}{
	{"two sign-ups with one e-mail address", nil, creating("a", "x"), creating("b", "x")},
	{"two sign-ups under one id", nil, creating("a", "x"), creating("a", "y")},
	{"a sign-up and a deletion", []act{creating("a", "x")}, creating("b", "x"), removing("a")},
	{"a change and a sign-up", []act{creating("a", "x")}, changing("a", "y"), creating("b", "y")},
	{"a change and a sign-up with what is left", []act{creating("a", "x")}, changing("a", "y"), creating("b", "x")},
	{"two changes to one e-mail address", []act{creating("a", "x"), creating("b", "y")}, changing("a", "z"), changing("b", "z")},
	{"two changes of one user", []act{creating("a", "x")}, changing("a", "y"), changing("a", "z")},
	{"a swap", []act{creating("a", "x"), creating("b", "y")}, changing("a", "y"), changing("b", "x")},
	{"a change and a deletion", []act{creating("a", "x")}, changing("a", "y"), removing("a")},
	{"a link and a deletion", []act{creating("a", "x")}, linking("a"), removing("a")},
	{"two links of one account", []act{creating("a", "x"), creating("b", "y")}, linking("a"), linking("b")},
	{"a sign-up that is begun twice", nil, beginning("a"), beginning("b")},
}

func creating(id, email string) act {
	return func(ctx context.Context, s stage) error { return s.create(ctx, id, email) }
}

func changing(id, email string) act {
	return func(ctx context.Context, s stage) error { return s.change(ctx, id, email) }
}

func removing(id string) act {
	return func(ctx context.Context, s stage) error { return s.remove(ctx, id) }
}

func linking(id string) act {
	return func(ctx context.Context, s stage) error { return s.link(ctx, id) }
}

func beginning(id string) act {
	return func(ctx context.Context, s stage) error {
		on, err := s.BeginSignUp(ctx, "acme", s.id("account"), s.id(id))
		if err == nil && on == s.id(id) {
			err = s.create(ctx, id, "x")
		}
		return err
	}
}

// TestPairs: S-051. Each pair meets a thousand times in a real cluster.
func TestPairs(t *testing.T) {
	const runs, sides = 1000, 4
	a := on(t, clusterClient(t, realservers.NewRedisCluster(t)), redisadapter.Options{})
	for n, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			var wg sync.WaitGroup
			for side := range sides {
				wg.Go(func() {
					for i := side; i < runs; i += sides {
						s := stage{a, n*runs + i}
						for _, f := range p.before {
							if err := f(t.Context(), s); err != nil {
								t.Errorf("run %d: before: %v", i, err)
								return
							}
						}
						meet(t, s, p.first, p.second)
						s.inspect(t, strconv.Itoa(i))
					}
				})
			}
			wg.Wait()
		})
	}
}

func meet(t *testing.T, s stage, acts ...act) {
	t.Helper()
	var wg sync.WaitGroup
	for _, f := range acts {
		wg.Go(func() {
			if err := f(t.Context(), s); err != nil && !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrNotFound) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// inspect is what holds whoever was faster: one whole user for an e-mail address,
// whom it finds, and accounts of the living alone; and nothing is stuck.
func (s stage) inspect(t *testing.T, run string) {
	t.Helper()
	ctx, living := t.Context(), map[string]storage.User{}
	for _, id := range []string{"a", "b"} {
		u, err := s.GetUser(ctx, s.id(id))
		if err == nil {
			living[u.ID] = u
		} else if !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("run %s: %v", run, err)
		}
	}
	has := map[string]string{}
	for id, u := range living {
		if other := has[u.Email]; other != "" {
			t.Errorf("run %s: %s and %s have one e-mail address", run, id, other)
		}
		has[u.Email] = id
	}
	for _, name := range []string{"x", "y", "z"} {
		email := s.email(name)
		u, err := s.GetUserByEmail(ctx, email)
		switch want := has[email]; {
		case want == "" && !errors.Is(err, storage.ErrNotFound):
			t.Errorf("run %s: %s finds %v, error %v, want nobody", run, email, u, err)
		case want != "" && (err != nil || u.ID != want):
			t.Errorf("run %s: %s finds %v, error %v, want %s", run, email, u, err, want)
		case want == "":
			if _, err := s.CreateUser(ctx, storage.User{Email: email}); err != nil {
				t.Errorf("run %s: %s is nobody's and cannot be had: %v", run, email, err)
			}
		}
	}
	u, err := s.GetUserByAccount(ctx, "acme", s.id("account"))
	if _, lives := living[u.ID]; err == nil && !lives {
		t.Errorf("run %s: the account is of %s, who is nobody", run, u.ID)
	}
	if errors.Is(err, storage.ErrNotFound) && living[s.id("a")].ID != "" {
		if err := s.link(ctx, "a"); err != nil {
			t.Errorf("run %s: the account is nobody's and cannot be linked: %v", run, err)
		}
	}
}
