package kvstore_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// actor is somebody with an account at a provider, whose word on the e-mail
// address is not believed.
type actor struct{ account, email string }

var errRefused = errors.New("the e-mail address is another's")

// signIn is what the library does for an account, as far as the store goes.
func signIn(ctx context.Context, s *kvstore.Store, who actor) (string, error) {
	id, err := trySignIn(ctx, s, who)
	if errors.Is(err, storage.ErrConflict) {
		id, err = trySignIn(ctx, s, who)
	}
	return id, err
}

func trySignIn(ctx context.Context, s *kvstore.Store, who actor) (string, error) {
	owner, err := s.GetUserByAccount(ctx, "acme", who.account)
	if err == nil {
		return owner.ID, openSession(ctx, s, owner.ID)
	}
	if !errors.Is(err, storage.ErrNotFound) {
		return "", err
	}
	_, taken := s.GetUserByEmail(ctx, who.email)
	if taken != nil && !errors.Is(taken, storage.ErrNotFound) {
		return "", taken
	}
	id, err := s.BeginSignUp(ctx, "acme", who.account, "user-of-"+who.account)
	if err != nil {
		return "", err
	}
	switch _, err := s.GetUser(ctx, id); {
	case err == nil:
	case !errors.Is(err, storage.ErrNotFound):
		return "", err
	case taken == nil:
		return "", errRefused
	default:
		if _, err := s.CreateUser(ctx, storage.User{ID: id, Name: "n", Email: who.email}); err != nil {
			return "", err
		}
	}
	if err := s.LinkAccount(ctx, storage.Account{UserID: id, Provider: "acme", ProviderAccountID: who.account, Type: storage.TypeOIDC}); err != nil {
		return "", err
	}
	if err := s.EndSignUp(ctx, "acme", who.account); err != nil {
		return "", err
	}
	return id, openSession(ctx, s, id)
}

func openSession(ctx context.Context, s *kvstore.Store, user string) error {
	return s.CreateSession(ctx, storage.StoredSession{Token: rand.Text(), UserID: user, Expires: time.Now().Add(time.Hour)})
}

// storedUser and storedOwner are what the records hold, as the package's
// documentation has it.
type storedUser struct{ ID, Born, State, Email string }

type storedOwner struct{ User, Born, Entry string }

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// oneAddressOneUser is I1: at most one whole user has an e-mail address, and the
// claim names that one.
func oneAddressOneUser(m *memory) error {
	having := map[string]string{}
	for _, k := range slices.Collect(maps.Keys(m.records)) {
		var u storedUser
		if k.Kind != kvstore.KindUser || json.Unmarshal(m.records[k].Value, &u) != nil || u.State != "" || u.Email == "" {
			continue
		}
		if other, taken := having[u.Email]; taken {
			return fmt.Errorf("I1: %s and %s both have %s", other, u.ID, u.Email)
		}
		having[u.Email] = u.ID
		var claim storedOwner
		r := m.records[kvstore.Key{Kind: kvstore.KindEmail, Name: hashed(u.Email)}]
		if json.Unmarshal(r.Value, &claim) != nil || claim.User != u.ID || claim.Born != u.Born {
			return fmt.Errorf("I1: %s has %s, and the claim is %s's", u.ID, u.Email, claim.User)
		}
	}
	return nil
}

// listed is the second half of I2: what belongs to a user who is not deleted is in
// the list of what that user owns.
func listed(ctx context.Context, m *memory) error {
	s := kvstore.New(m, kvstore.Options{})
	for k, r := range m.records {
		var of storedOwner
		belongs := k.Kind == kvstore.KindAccount || k.Kind == kvstore.KindSession || k.Kind == kvstore.KindAuthenticator
		if !belongs || r.IsVoid() || json.Unmarshal(r.Value, &of) != nil {
			continue
		}
		if u, err := s.GetUser(ctx, of.User); err == nil && !m.lists(u.ID, r, of.Entry) {
			return fmt.Errorf("I2: %s:%.6s of %s is in no list, or leaves it too early", k.Kind, k.Name, of.User)
		}
	}
	return nil
}

// lists reports whether a user's list has the entry of a record for as long as the record
// is kept.
func (m *memory) lists(user string, r kvstore.Record, part string) bool {
	until, there := m.owned[user][kvstore.Key{Kind: r.Kind, Name: r.Name + "=" + part}]
	return there && (until.IsZero() || !r.Until.IsZero() && !until.Before(r.Until))
}

// ownAccounts is the first half of I2: an account is one living user's, and
// nobody else lists it.
func ownAccounts(ctx context.Context, m *memory, actors []actor) error {
	s := kvstore.New(m, kvstore.Options{})
	for _, who := range actors {
		owner, err := s.GetUserByAccount(ctx, "acme", who.account)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		for k := range maps.Keys(m.records) {
			if k.Kind != kvstore.KindUser {
				continue
			}
			u, err := s.GetUser(ctx, k.Name)
			if err != nil {
				continue
			}
			list, err := s.ListAccounts(ctx, u.ID)
			if err != nil {
				return err
			}
			lists := slices.ContainsFunc(list, func(a storage.Account) bool { return a.ProviderAccountID == who.account })
			if theirs := u.ID == owner.ID; lists != theirs {
				return fmt.Errorf("I2: the account %s is %q's, and %s lists it: %t", who.account, owner.ID, u.ID, lists)
			}
		}
	}
	return nil
}

// letIn is I3 and I4: each signs in once more. Everybody is in as themselves, or
// refused because another who is in has the e-mail address.
func letIn(ctx context.Context, m *memory, actors []actor) error {
	s := kvstore.New(m, kvstore.Options{})
	users, holders := map[string]string{}, map[string]string{}
	for _, who := range actors {
		id, err := signIn(ctx, s, who)
		if errors.Is(err, errRefused) {
			holder, err := s.GetUserByEmail(ctx, who.email)
			if err != nil || holder.Email != who.email {
				return fmt.Errorf("I3: %s is refused, and nobody has %s: %w", who.account, who.email, err)
			}
			holders[who.account] = holder.ID
			continue
		}
		if err != nil {
			return fmt.Errorf("I3: %s is stuck: %w", who.account, err)
		}
		if other := users[id]; other != "" {
			return fmt.Errorf("I4: %s is let in as %s", who.account, other)
		}
		users[id] = who.account
		if again, err := signIn(ctx, s, who); err != nil || again != id {
			return fmt.Errorf("I3: %s is %s, then %s: %w", who.account, id, again, err)
		}
	}
	for account, holder := range holders {
		if users[holder] == "" && strings.HasPrefix(holder, "user-of-") {
			return fmt.Errorf("I3: %s is refused for %s, who cannot sign in", account, holder)
		}
	}
	if len(users) == 0 {
		return errors.New("I3: nobody is in")
	}
	return nil
}
