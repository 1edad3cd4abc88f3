package storagetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

var userPromises = []promise[storage.Adapter]{
	{"what is not there is ErrNotFound", func(t *testing.T, a storage.Adapter) {
		_, err := a.GetUser(t.Context(), "nobody")
		is(t, "GetUser", err, storage.ErrNotFound)
		_, err = a.GetUserByEmail(t.Context(), "nobody@example.com")
		is(t, "GetUserByEmail", err, storage.ErrNotFound)
		_, err = a.GetUserByAccount(t.Context(), "acme", "nobody")
		is(t, "GetUserByAccount", err, storage.ErrNotFound)
		_, err = a.UpdateUser(t.Context(), "nobody", storage.UserChange{Name: new("Ada")})
		is(t, "UpdateUser", err, storage.ErrNotFound)
		_, err = a.UpdateUser(t.Context(), "nobody", storage.UserChange{})
		is(t, "UpdateUser with nothing to change", err, storage.ErrNotFound)
	}},
	{"a user is read as it was stored", func(t *testing.T, a storage.Adapter) {
		in := filledUser("ada@example.com")
		in.EmailVerified = instant
		u, err := a.CreateUser(t.Context(), in)
		ok(t, err)
		if u.ID == "" {
			t.Fatal("the user has no id")
		}
		in.ID = u.ID
		same(t, "created user", u, in)
		readEverywhere(t, a, in)
		link(t, a, u, "1")
		got, err := a.GetUserByAccount(t.Context(), "acme", "1")
		ok(t, err)
		same(t, "user by account", got, in)
		got, err = a.UpdateUser(t.Context(), u.ID, storage.UserChange{})
		ok(t, err)
		same(t, "updated user", got, in)
	}},
	{"what CreateUser returns is what is stored", func(t *testing.T, a storage.Adapter) {
		u, err := a.CreateUser(t.Context(), storage.User{Extra: map[string]any{"role": "admin", "n": 9007199254740993}})
		ok(t, err)
		readEverywhere(t, a, u)
	}},
	{"a user may be unknown in all but the id", func(t *testing.T, a storage.Adapter) {
		u, err := a.CreateUser(t.Context(), storage.User{})
		ok(t, err)
		same(t, "user", u, storage.User{ID: u.ID})
		readEverywhere(t, a, u)
	}},
	{"the empty e-mail address is not taken and finds no one", func(t *testing.T, a storage.Adapter) {
		first, second := newUser(t, a, ""), newUser(t, a, "")
		if first.ID == second.ID {
			t.Error("two users have one id")
		}
		_, err := a.GetUserByEmail(t.Context(), "")
		is(t, "GetUserByEmail", err, storage.ErrNotFound)
		_, err = a.GetUser(t.Context(), "")
		is(t, "GetUser", err, storage.ErrNotFound)
	}},
	{"a taken e-mail address is ErrConflict", func(t *testing.T, a storage.Adapter) {
		u := newUser(t, a, "ada@example.com")
		_, err := a.CreateUser(t.Context(), storage.User{Name: "Eve", Email: "ada@example.com"})
		is(t, "CreateUser", err, storage.ErrConflict)
		readEverywhere(t, a, u)
	}},
	{"an id that is taken is never given again", func(t *testing.T, a storage.Adapter) {
		first, err := a.CreateUser(t.Context(), storage.User{ID: "chosen", Name: "Ada"})
		ok(t, err)
		second, err := a.CreateUser(t.Context(), storage.User{ID: "chosen", Name: "Eve"})
		if err == nil && second.ID == first.ID {
			t.Error("two users have one id")
		} else if err != nil {
			is(t, "CreateUser", err, storage.ErrConflict)
		}
		readEverywhere(t, a, first)
	}},
	{"of many sign-ups with one e-mail address exactly one succeeds", func(t *testing.T, a storage.Adapter) {
		oneWins(t, "CreateUser", race.Run(crowd, func(i int) error {
			_, err := a.CreateUser(t.Context(), storage.User{Name: fmt.Sprint(i), Email: "ada@example.com"})
			return err
		}), storage.ErrConflict)
	}},
	{"UpdateUser changes what is named and nothing else", updateNamed},
	{"UpdateUser can clear", func(t *testing.T, a storage.Adapter) {
		u, err := a.CreateUser(t.Context(), storage.User{Name: "Ada", Email: "ada@example.com", EmailVerified: instant, Image: "i"})
		ok(t, err)
		none := storage.UserChange{Name: new(""), Email: new(""), EmailVerified: new(time.Time{}), Image: new("")}
		got, err := a.UpdateUser(t.Context(), u.ID, none)
		ok(t, err)
		same(t, "cleared user", got, storage.User{ID: u.ID})
		readEverywhere(t, a, got)
		_, err = a.GetUserByEmail(t.Context(), "ada@example.com")
		is(t, "GetUserByEmail with the old e-mail address", err, storage.ErrNotFound)
		newUser(t, a, "ada@example.com") // the e-mail address is free again
	}},
	{"UpdateUser to a taken e-mail address is ErrConflict and changes nothing", func(t *testing.T, a storage.Adapter) {
		ada, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		_, err := a.UpdateUser(t.Context(), eve.ID, storage.UserChange{Name: new("Mallory"), Email: new("ada@example.com")})
		is(t, "UpdateUser", err, storage.ErrConflict)
		readEverywhere(t, a, ada)
		readEverywhere(t, a, eve)
		_, err = a.UpdateUser(t.Context(), eve.ID, storage.UserChange{Email: new("eve@example.com")})
		ok(t, err) // one's own e-mail address is not taken
	}},
	{"changes of different fields at once all survive", func(t *testing.T, a storage.Adapter) {
		u := newUser(t, a, "ada@example.com")
		changes := []storage.UserChange{{Name: new("Countess")}, {Email: new("new@example.com")}, {EmailVerified: new(instant)}, {Image: new("i")}}
		for _, err := range race.Run(4*len(changes), func(i int) error {
			_, err := a.UpdateUser(t.Context(), u.ID, changes[i%len(changes)])
			return err
		}) {
			ok(t, err)
		}
		readEverywhere(t, a, storage.User{ID: u.ID, Name: "Countess", Email: "new@example.com", EmailVerified: instant, Image: "i", Extra: u.Extra})
	}},
	{"text is kept byte for byte", func(t *testing.T, a storage.Adapter) {
		for _, text := range unicode {
			u, err := a.CreateUser(t.Context(), storage.User{Name: text, Image: text})
			ok(t, err)
			if u.Name != text || u.Image != text {
				t.Errorf("%q came back as %q and %q", text, u.Name, u.Image)
			}
			readEverywhere(t, a, u)
		}
	}},
	{"hostile text is kept whole or refused", func(t *testing.T, a storage.Adapter) {
		for _, text := range hostile {
			u, err := a.CreateUser(t.Context(), storage.User{Name: text, Email: text})
			if err != nil {
				_, err = a.GetUserByEmail(t.Context(), text)
				is(t, fmt.Sprintf("GetUserByEmail(%.20q) after a refusal", text), err, storage.ErrNotFound)
				continue
			}
			got, err := a.GetUserByEmail(t.Context(), text)
			if err != nil {
				t.Errorf("the e-mail address %.20q was accepted, and does not find its user: %v", text, err)
			}
			same(t, fmt.Sprintf("user by the e-mail address %.20q", text), got, storage.User{ID: u.ID, Name: text, Email: text, Extra: u.Extra})
		}
	}},
	{"hostile text finds no one", func(t *testing.T, a storage.Adapter) {
		u := newUser(t, a, "ada@example.com")
		newUser(t, a, "")
		link(t, a, u, "1")
		for _, text := range hostile {
			_, err := a.GetUserByEmail(t.Context(), text)
			is(t, fmt.Sprintf("GetUserByEmail(%.20q)", text), err, storage.ErrNotFound)
			_, err = a.GetUserByAccount(t.Context(), "acme", text)
			is(t, fmt.Sprintf("GetUserByAccount(%.20q)", text), err, storage.ErrNotFound)
			_, err = a.GetUserByAccount(t.Context(), text, "1")
			is(t, fmt.Sprintf("GetUserByAccount of the provider %.20q", text), err, storage.ErrNotFound)
			if got, err := a.GetUser(t.Context(), text); err == nil && got.ID != text || err != nil && !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("GetUser(%.20q): found %q, error %v", text, got.ID, err)
			}
		}
	}},
	{"e-mail addresses are compared exactly", func(t *testing.T, a storage.Adapter) {
		newUser(t, a, "ada@example.com")
		for _, email := range []string{"ada@example.com ", " ada@example.com", "ADA@example.com", "adá@example.com", "ad_@example.com", "%"} {
			_, err := a.GetUserByEmail(t.Context(), email)
			is(t, fmt.Sprintf("GetUserByEmail(%q)", email), err, storage.ErrNotFound)
		}
	}},
	{"records are copies", func(t *testing.T, a storage.Adapter) {
		inner := map[string]any{"k": "kept"}
		u, err := a.CreateUser(t.Context(), storage.User{Extra: map[string]any{"inner": inner}})
		ok(t, err)
		before, err := a.GetUser(t.Context(), u.ID)
		ok(t, err)
		want := extraText(t, before.Extra)
		inner["k"] = "changed by who passed it in"
		spoil(u.Extra)
		spoil(before.Extra)
		after, err := a.GetUser(t.Context(), u.ID)
		ok(t, err)
		if got := extraText(t, after.Extra); got != want {
			t.Errorf("Extra became %s, want %s", got, want)
		}
	}},
	{"a cancelled context ends the call", func(t *testing.T, a storage.Adapter) {
		u := newUser(t, a, "ada@example.com")
		ctx := cancelled(t)
		_, err := a.CreateUser(ctx, storage.User{Email: "eve@example.com"})
		is(t, "CreateUser", err, context.Canceled)
		_, err = a.GetUser(ctx, u.ID)
		is(t, "GetUser", err, context.Canceled)
		_, err = a.GetUserByEmail(ctx, u.Email)
		is(t, "GetUserByEmail", err, context.Canceled)
		_, err = a.GetUserByAccount(ctx, "acme", "1")
		is(t, "GetUserByAccount", err, context.Canceled)
		_, err = a.UpdateUser(ctx, u.ID, storage.UserChange{Name: new("Eve")})
		is(t, "UpdateUser", err, context.Canceled)
		is(t, "LinkAccount", a.LinkAccount(ctx, storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1"}), context.Canceled)
		readEverywhere(t, a, u)
		_, err = a.GetUserByEmail(t.Context(), "eve@example.com")
		is(t, "GetUserByEmail afterwards", err, storage.ErrNotFound)
	}},
}

// updateNamed changes one field after the other, and fails the test if another changes.
func updateNamed(t *testing.T, a storage.Adapter) {
	want := newUser(t, a, "ada@example.com")
	steps := []struct {
		change storage.UserChange
		apply  func(*storage.User)
	}{
		{storage.UserChange{}, func(*storage.User) {}},
		{storage.UserChange{Name: new("Countess")}, func(u *storage.User) { u.Name = "Countess" }},
		{storage.UserChange{EmailVerified: new(instant)}, func(u *storage.User) { u.EmailVerified = instant }},
		{storage.UserChange{Image: new("i")}, func(u *storage.User) { u.Image = "i" }},
		{storage.UserChange{Email: new("new@example.com")}, func(u *storage.User) { u.Email = "new@example.com" }},
		{storage.UserChange{Name: new("Countess")}, func(*storage.User) {}}, // to what it was already
	}
	for _, step := range steps {
		got, err := a.UpdateUser(t.Context(), want.ID, step.change)
		ok(t, err)
		step.apply(&want)
		same(t, "updated user", got, want)
		readEverywhere(t, a, want)
	}
	_, err := a.GetUserByEmail(t.Context(), "ada@example.com")
	is(t, "GetUserByEmail with the old e-mail address", err, storage.ErrNotFound)
}

// readEverywhere fails the test unless want is found by its id and, if it has one, by its
// e-mail address.
func readEverywhere(t *testing.T, a storage.Adapter, want storage.User) {
	t.Helper()
	got, err := a.GetUser(t.Context(), want.ID)
	if err != nil {
		t.Errorf("GetUser: %v", err)
	}
	same(t, "user by id", got, want)
	if want.Email == "" {
		return
	}
	got, err = a.GetUserByEmail(t.Context(), want.Email)
	if err != nil {
		t.Errorf("GetUserByEmail: %v", err)
	}
	same(t, "user by e-mail address", got, want)
}

// spoil adds a member to m and to each map in it.
func spoil(m map[string]any) {
	for k, v := range m {
		if deeper, isMap := v.(map[string]any); isMap {
			spoil(deeper)
		}
		m[k+" spoiled"] = true
	}
}
