package storagetest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

// stores are adapters that break one promise each, and the sub-test that must
// notice.
var stores = map[string]struct {
	open    func() storage.Adapter
	noticed string
}{
	"a token is read, then deleted":          {func() storage.Adapter { return &twoSteps{memory()} }, "R-137_of_many_uses_at_once"},
	"an e-mail address is folded":            {func() storage.Adapter { return &folding{memory()} }, "e-mail_addresses_are_compared_exactly"},
	"an update writes the whole user":        {func() storage.Adapter { return &overwriting{memory()} }, "UpdateUser_changes_what_is_named"},
	"not found is nobody":                    {func() storage.Adapter { return &silent{memory()} }, "what_is_not_there_is_ErrNotFound"},
	"times are in the store's zone":          {func() storage.Adapter { return &local{memory()} }, "a_session_is_read_with_its_user"},
	"a renewal inserts what is not there":    {func() storage.Adapter { return &reviving{memory()} }, "R-191_a_renewal_never_brings"},
	"a renewal moves the expiry anywhere":    {func() storage.Adapter { return &backwards{Adapter: memory()} }, "UpdateSession_moves_the_expiry_forwards_only"},
	"a transaction keeps what failed":        {func() storage.Adapter { return &committing{memory()} }, "R-185_an_error_rolls_everything_back"},
	"the context is ignored":                 {func() storage.Adapter { return &deaf{memory()} }, "a_cancelled_context_ends_the_call"},
	"a listed session shows its token":       {func() storage.Adapter { return &leaking{memory()} }, "their_tokens_are_not_listed"},
	"anybody may end a session by its id":    {func() storage.Adapter { return &trusting{memory()} }, "DeleteSessionByID_removes_only"},
	"the counter is set without comparing":   {func() storage.Adapter { return &resetting{memory()} }, "the_counter_only_rises"},
	"a session's tenant is not kept":         {func() storage.Adapter { return &tenantless{memory()} }, "how_a_session_was_opened_survives"},
	"a token's purpose is not kept":          {func() storage.Adapter { return &purposeless{memory()} }, "what_a_token_is_for_survives"},
	"an account's e-mail is not kept":        {func() storage.Adapter { return &unvouched{memory()} }, "the_e-mail_address_that_came_with_an_account"},
	"a passkey's dates are not kept":         {func() storage.Adapter { return &dateless{memory()} }, "name,_model_and_dates_of_a_passkey"},
	"a session shares its methods":           {func() storage.Adapter { return &sharing{memory(), nil} }, "SessionAdapter/records_are_copies"},
	"an update locks nothing":                {func() storage.Adapter { return &unlocked{memory(), false} }, "R-345_whoever_updates_a_user"},
	"a conflict keeps half of a transaction": {func() storage.Adapter { return &halving{memory()} }, "after_a_conflict_that_is_passed_over"},
	"users get another id than is recorded":  {func() storage.Adapter { return &renaming{memory()} }, "R-186_a_user_who_is_made_with_the_id_on_record"},
	"an earlier revocation replaces a later": {func() storage.Adapter { return &forgetful{Adapter: memory(), at: map[string]time.Time{}} }, "the_latest_instant_counts"},
	"a sweep forgets who had a lease":        {func() storage.Adapter { return &amnesic{memory(), memory()} }, "R-808_a_lease_is_removed_a_day_after"},
}

func memory() *memoryadapter.Adapter { return memoryadapter.New(memoryadapter.Options{}) }

// TestAdapterNotices runs the suite on each broken store in a process of its
// own, where it must fail.
func TestAdapterNotices(t *testing.T) {
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBrokenStore$", "-test.v")
			c.Env = append(os.Environ(), "LATCHKEY_BROKEN_STORE="+name)
			out, err := c.CombinedOutput()
			if _, failed := errors.AsType[*exec.ExitError](err); !failed {
				t.Fatalf("the suite passed: %v", err)
			}
			if !strings.Contains(string(out), "--- FAIL: TestBrokenStore/") || !failedIn(string(out), store.noticed) {
				t.Errorf("no sub-test %q failed:\n%s", store.noticed, out)
			}
		})
	}
}

func failedIn(out, name string) bool {
	for line := range strings.Lines(out) {
		if strings.Contains(line, "--- FAIL") && strings.Contains(line, name) {
			return true
		}
	}
	return false
}

// TestBrokenStore is the other process; without one of the stores it has
// nothing to do.
func TestBrokenStore(t *testing.T) {
	if store, broken := stores[os.Getenv("LATCHKEY_BROKEN_STORE")]; broken {
		storagetest.TestAdapter(t, func(*testing.T) storage.Adapter { return store.open() })
	}
}

// TestAdapterWithoutAbilities proves that a store with six methods is a whole
// store.
func TestAdapterWithoutAbilities(t *testing.T) {
	storagetest.TestAdapter(t, func(*testing.T) storage.Adapter { return struct{ storage.Adapter }{memory()} })
}

// amnesic keeps leases in a store of their own, and removes them as soon as they have expired.
type amnesic struct {
	*memoryadapter.Adapter
	leases *memoryadapter.Adapter
}

func (a *amnesic) Lease(ctx context.Context, key, holder string, life time.Duration) (storage.Lease, error) {
	return a.leases.Lease(ctx, key, holder, life)
}

func (a *amnesic) Release(ctx context.Context, key, holder string) error {
	return a.leases.Release(ctx, key, holder)
}

func (a *amnesic) Sweep(ctx context.Context, before time.Time) (int, error) {
	rows, err := a.Adapter.Sweep(ctx, before)
	leases, errLeases := a.leases.Sweep(ctx, before.Add(24*time.Hour))
	return rows + leases, errors.Join(err, errLeases)
}

type renaming struct{ *memoryadapter.Adapter }

func (a *renaming) CreateUser(ctx context.Context, u storage.User) (storage.User, error) {
	if u.ID != "" {
		u.ID = "x" + u.ID
	}
	return a.Adapter.CreateUser(ctx, u)
}

type twoSteps struct{ *memoryadapter.Adapter }

func (a *twoSteps) UseVerificationToken(ctx context.Context, identifier, token string) (storage.VerificationToken, error) {
	for _, t := range a.Contents().VerificationTokens {
		if t.Identifier == identifier && t.Token == token {
			time.Sleep(time.Millisecond) // between the two steps, where everybody else reads too
			_, _ = a.Adapter.UseVerificationToken(ctx, identifier, token)
			return t, ctx.Err()
		}
	}
	return storage.VerificationToken{}, errors.Join(ctx.Err(), storage.ErrNotFound)
}

type folding struct{ *memoryadapter.Adapter }

func (a *folding) GetUserByEmail(ctx context.Context, email string) (storage.User, error) {
	return a.Adapter.GetUserByEmail(ctx, strings.ToLower(strings.TrimSpace(email)))
}

type overwriting struct{ *memoryadapter.Adapter }

func (a *overwriting) UpdateUser(ctx context.Context, id string, c storage.UserChange) (storage.User, error) {
	if c.Image == nil {
		c.Image = new("")
	}
	if c.Name == nil {
		c.Name = new("")
	}
	return a.Adapter.UpdateUser(ctx, id, c)
}

type silent struct{ *memoryadapter.Adapter }

func (a *silent) GetUser(ctx context.Context, id string) (storage.User, error) {
	u, err := a.Adapter.GetUser(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return u, nil
	}
	return u, err
}

type local struct{ *memoryadapter.Adapter }

func (a *local) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, storage.User, error) {
	s, u, err := a.Adapter.GetSessionAndUser(ctx, token)
	s.Expires = s.Expires.In(time.FixedZone("", 3600))
	return s, u, err
}

type reviving struct{ *memoryadapter.Adapter }

func (a *reviving) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	err := a.Adapter.UpdateSession(ctx, token, expires)
	if users := a.Contents().Users; errors.Is(err, storage.ErrNotFound) && len(users) > 0 {
		return a.CreateSession(ctx, storage.StoredSession{Token: token, UserID: users[0].ID, Expires: expires})
	}
	return err
}

type backwards struct {
	*memoryadapter.Adapter
	sync.Mutex
}

func (a *backwards) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	a.Lock()
	defer a.Unlock()
	s, err := a.DeleteSession(ctx, token)
	if err != nil {
		return err
	}
	s.Expires = expires
	return a.CreateSession(ctx, s)
}

type committing struct{ *memoryadapter.Adapter }

func (a *committing) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return f(a)
}

type deaf struct{ *memoryadapter.Adapter }

func (a *deaf) GetUser(ctx context.Context, id string) (storage.User, error) {
	return a.Adapter.GetUser(context.WithoutCancel(ctx), id)
}

type leaking struct{ *memoryadapter.Adapter }

func (a *leaking) ListSessions(ctx context.Context, userID string) ([]storage.StoredSession, error) {
	list, err := a.Adapter.ListSessions(ctx, userID)
	for i := range list {
		list[i].Token = "stored token"
	}
	return list, err
}

type trusting struct{ *memoryadapter.Adapter }

func (a *trusting) DeleteSessionByID(ctx context.Context, userID, id string) error {
	for _, s := range a.Contents().Sessions {
		if s.ID == id {
			userID = s.UserID
		}
	}
	return a.Adapter.DeleteSessionByID(ctx, userID, id)
}

type resetting struct{ *memoryadapter.Adapter }

func (a *resetting) UpdateAuthenticatorCounter(ctx context.Context, id []byte, counter uint32) (storage.Authenticator, error) {
	k, err := a.GetAuthenticator(ctx, id)
	if err != nil {
		return k, err
	}
	if err := a.DeleteAuthenticator(ctx, id); err != nil {
		return k, err
	}
	k.Counter = counter
	return k, a.CreateAuthenticator(ctx, k)
}

type forgetful struct {
	*memoryadapter.Adapter
	mu sync.Mutex
	at map[string]time.Time
}

func (a *forgetful) Revoke(_ context.Context, key string, at, _ time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at[key] = at.UTC()
	return nil
}

func (a *forgetful) RevokedAt(_ context.Context, keys ...string) (map[string]time.Time, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	found := map[string]time.Time{}
	for _, key := range keys {
		if at, known := a.at[key]; known {
			found[key] = at
		}
	}
	return found, nil
}
