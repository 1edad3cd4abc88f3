package storagetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

type factorStore interface {
	storage.Adapter
	storage.FactorAdapter
}

var factorPromises = []promise[factorStore]{
	{"what is not there is ErrNotFound", func(t *testing.T, a factorStore) {
		u := newUser(t, a, "")
		noFactor(t, a, u.ID, "none")
		listFactors(t, a, u.ID, 0)
		listFactors(t, a, "nobody", 0)
	}},
	{"a factor is listed and removed as it was stored", func(t *testing.T, a factorStore) {
		u := newUser(t, a, "ada@example.com")
		for i, name := range append([]string{""}, unicode...) {
			want := filledFactor(u, fmt.Sprint("f", i))
			want.Name = name
			ok(t, a.Factors().Create(t.Context(), want))
			same(t, "listed factor", listFactors(t, a, u.ID, 1)[0], want)
			got, err := a.Factors().Delete(t.Context(), u.ID, want.ID)
			ok(t, err)
			same(t, "removed factor", got, want)
			noFactor(t, a, u.ID, want.ID)
		}
	}},
	{"what is empty reads back empty", func(t *testing.T, a factorStore) {
		u := newUser(t, a, "")
		want := storage.Factor{ID: "f", UserID: u.ID, Kind: storage.FactorEmail, Created: instant}
		ok(t, a.Factors().Create(t.Context(), want))
		same(t, "factor", listFactors(t, a, u.ID, 1)[0], want)
	}},
	{"a taken id is ErrConflict", func(t *testing.T, a factorStore) {
		ada, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		want := newFactor(t, a, ada, "f")
		is(t, "Create", a.Factors().Create(t.Context(), filledFactor(eve, "f")), storage.ErrConflict)
		same(t, "factor", listFactors(t, a, ada.ID, 1)[0], want)
		listFactors(t, a, eve.ID, 0)
	}},
	{"ids are compared exactly", func(t *testing.T, a factorStore) {
		for _, id := range alike {
			u := newUser(t, a, "")
			want := newFactor(t, a, u, id)
			same(t, "factor", listFactors(t, a, u.ID, 1)[0], want)
			n, err := a.Factors().Fail(t.Context(), id)
			if err != nil || n != want.Failures+1 {
				t.Errorf("Fail(%q): %d, error %v", id, n, err)
			}
		}
	}},
	{"hostile ids find nothing", func(t *testing.T, a factorStore) {
		u := newUser(t, a, "")
		want := newFactor(t, a, u, "f")
		for _, id := range append([]string{""}, hostile...) {
			noFactor(t, a, u.ID, id)
			if _, err := a.Factors().Delete(t.Context(), id, "f"); id != u.ID {
				is(t, fmt.Sprintf("Delete of the user %.20q", id), err, storage.ErrNotFound)
			}
		}
		same(t, "factor", listFactors(t, a, u.ID, 1)[0], want)
	}},
	{"a hostile name is kept whole or refused", func(t *testing.T, a factorStore) {
		u := newUser(t, a, "")
		for i, name := range hostile {
			want := filledFactor(u, fmt.Sprint("f", i))
			want.Name = name
			if a.Factors().Create(t.Context(), want) != nil {
				noFactor(t, a, u.ID, want.ID)
				continue
			}
			same(t, "factor", listFactors(t, a, u.ID, 1)[0], want)
			_, err := a.Factors().Delete(t.Context(), u.ID, want.ID)
			ok(t, err)
		}
	}},
	{"F-023 F-024 a step is accepted once, and none before it", func(t *testing.T, a factorStore) {
		u := newUser(t, a, "")
		want := newFactor(t, a, u, "f")
		other := filledFactor(u, "other")
		other.Created = want.Created.Add(time.Hour)
		ok(t, a.Factors().Create(t.Context(), other))
		base := want.Step
		for _, try := range []struct {
			step   int64
			secret string
			want   error
		}{{5, "", nil}, {5, "again", storage.ErrConflict}, {4, "before", storage.ErrConflict}, {6, "resealed", nil}, {6, "", storage.ErrConflict}, {1 << 40, "", nil}} {
			at := instant.Add(time.Duration(try.step%60) * time.Second)
			err := a.Factors().Use(t.Context(), "f", base+try.step, try.secret, at)
			is(t, fmt.Sprint("Use of step +", try.step), err, try.want)
			if try.want == nil {
				want.Step, want.Used, want.Failures, want.Secret = base+try.step, at, 0, cmp.Or(try.secret, want.Secret)
			}
			same(t, "factor", factorOf(t, a, u.ID, "f"), want)
		}
		same(t, "the other factor", factorOf(t, a, u.ID, "other"), other)
	}},
	{"F-025 of 100 uses of one step exactly one succeeds", func(t *testing.T, a factorStore) {
		f := newFactor(t, a, newUser(t, a, ""), "f")
		oneWins(t, "Use", race.Run(crowd, func(int) error {
			return a.Factors().Use(t.Context(), "f", f.Step+1, "", instant)
		}), storage.ErrConflict)
	}},
	{"F-071 every failure is counted, however many there are at once", func(t *testing.T, a factorStore) {
		f := newFactor(t, a, newUser(t, a, ""), "f")
		countsEach(t, f.Failures, func(ctx context.Context) (int, error) { return a.Factors().Fail(ctx, "f") })
		ok(t, a.Factors().Use(t.Context(), "f", f.Step+1, "", instant))
		if n, err := a.Factors().Fail(t.Context(), "f"); err != nil || n != 1 {
			t.Errorf("Fail after a right code: %d, error %v, want 1", n, err)
		}
	}},
	{"Delete removes only the user's own", func(t *testing.T, a factorStore) {
		ada, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		want := newFactor(t, a, ada, "f")
		_, err := a.Factors().Delete(t.Context(), eve.ID, "f")
		is(t, "Delete by another user", err, storage.ErrNotFound)
		same(t, "factor", listFactors(t, a, ada.ID, 1)[0], want)
		oneWins(t, "Delete", race.Run(16, func(int) error {
			_, err := a.Factors().Delete(t.Context(), ada.ID, "f")
			return err
		}), storage.ErrNotFound)
	}},
	{"a cancelled context ends the call", func(t *testing.T, a factorStore) {
		u := newUser(t, a, "")
		want := newFactor(t, a, u, "f")
		ok(t, a.Factors().ReplaceRecoveryCodes(t.Context(), u.ID, []string{"h"}))
		ctx := cancelled(t)
		is(t, "Create", a.Factors().Create(ctx, filledFactor(u, "new")), context.Canceled)
		_, err := a.Factors().List(ctx, u.ID)
		is(t, "List", err, context.Canceled)
		is(t, "Use", a.Factors().Use(ctx, "f", want.Step+1, "x", instant), context.Canceled)
		_, err = a.Factors().Fail(ctx, "f")
		is(t, "Fail", err, context.Canceled)
		_, err = a.Factors().Delete(ctx, u.ID, "f")
		is(t, "Delete", err, context.Canceled)
		is(t, "ReplaceRecoveryCodes", a.Factors().ReplaceRecoveryCodes(ctx, u.ID, nil), context.Canceled)
		_, err = a.Factors().UseRecoveryCode(ctx, u.ID, "h")
		is(t, "UseRecoveryCode", err, context.Canceled)
		same(t, "factor", listFactors(t, a, u.ID, 1)[0], want)
		useCode(t, a, u.ID, "h", 0)
	}},
}

var recoveryPromises = []promise[factorStore]{
	{"a recovery code is the user's own and works once", func(t *testing.T, a factorStore) {
		ada, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		hashes := []string{"h1", "h2", "h3"}
		ok(t, a.Factors().ReplaceRecoveryCodes(t.Context(), ada.ID, hashes))
		ok(t, a.Factors().ReplaceRecoveryCodes(t.Context(), eve.ID, []string{"h1"}))
		hashes[0] = "spoiled"
		useCode(t, a, ada.ID, "h1", 2)
		noCode(t, a, ada.ID, "h1")
		useCode(t, a, eve.ID, "h1", 0)
		noCode(t, a, eve.ID, "h2")
		useCode(t, a, ada.ID, "h3", 1)
		useCode(t, a, ada.ID, "h2", 0)
		noCode(t, a, "nobody", "h1")
	}},
	{"F-036 new recovery codes end the old ones", func(t *testing.T, a factorStore) {
		u := newUser(t, a, "")
		for _, step := range [][]string{{"a", "b"}, {"b", "c", "d"}, nil, {"e"}} {
			ok(t, a.Factors().ReplaceRecoveryCodes(t.Context(), u.ID, step))
		}
		for _, gone := range []string{"a", "b", "c", "d"} {
			noCode(t, a, u.ID, gone)
		}
		useCode(t, a, u.ID, "e", 0)
	}},
	{"F-036 of many replacements at once one set is left, whole", func(t *testing.T, a factorStore) {
		u := newUser(t, a, "")
		for _, err := range race.Run(8, func(i int) error {
			return a.Factors().ReplaceRecoveryCodes(t.Context(), u.ID, codeSet(i))
		}) {
			ok(t, err)
		}
		var left []string
		for i := range 8 {
			for _, hash := range codeSet(i) {
				if _, err := a.Factors().UseRecoveryCode(t.Context(), u.ID, hash); err == nil {
					left = append(left, fmt.Sprint(i))
				}
			}
		}
		if len(left) != 10 || len(slices.Compact(left)) != 1 {
			t.Errorf("codes of %v are left, want the ten of one set", left)
		}
	}},
	{"F-035 of 100 uses of one recovery code exactly one succeeds", func(t *testing.T, a factorStore) {
		u := newUser(t, a, "")
		ok(t, a.Factors().ReplaceRecoveryCodes(t.Context(), u.ID, []string{"h", "other"}))
		oneWins(t, "UseRecoveryCode", race.Run(crowd, func(int) error {
			_, err := a.Factors().UseRecoveryCode(t.Context(), u.ID, "h")
			return err
		}), storage.ErrNotFound)
		useCode(t, a, u.ID, "other", 0)
	}},
	{"hashes are compared exactly, and hostile ones find nothing", func(t *testing.T, a factorStore) {
		u := newUser(t, a, "")
		ok(t, a.Factors().ReplaceRecoveryCodes(t.Context(), u.ID, alike))
		for _, hash := range append([]string{""}, hostile...) {
			noCode(t, a, u.ID, hash)
			if _, err := a.Factors().UseRecoveryCode(t.Context(), hash, alike[0]); hash != u.ID {
				is(t, fmt.Sprintf("UseRecoveryCode of the user %.20q", hash), err, storage.ErrNotFound)
			}
		}
		for i, hash := range alike {
			useCode(t, a, u.ID, hash, len(alike)-1-i)
		}
	}},
}

// codeSet returns ten hashes of recovery codes.
func codeSet(of int) (hashes []string) {
	for i := range 10 {
		hashes = append(hashes, fmt.Sprintf("hash %d of %d", i, of))
	}
	return hashes
}

func newFactor(t *testing.T, a storage.FactorAdapter, u storage.User, id string) storage.Factor {
	t.Helper()
	f := filledFactor(u, id)
	ok(t, a.Factors().Create(t.Context(), f))
	return f
}

// listFactors returns the factors of a user. It ends the test unless there are want.
func listFactors(t *testing.T, a storage.FactorAdapter, userID string, want int) []storage.Factor {
	t.Helper()
	got, err := a.Factors().List(t.Context(), userID)
	if err != nil || len(got) != want {
		t.Fatalf("Factors.List: %d factors, error %v, want %d", len(got), err, want)
	}
	return got
}

func factorOf(t *testing.T, a storage.FactorAdapter, userID, id string) storage.Factor {
	t.Helper()
	list, err := a.Factors().List(t.Context(), userID)
	ok(t, err)
	i := slices.IndexFunc(list, func(f storage.Factor) bool { return f.ID == id })
	if i < 0 {
		t.Fatalf("the factor %q is not listed", id)
	}
	return list[i]
}

// noFactor fails the test unless Fail, Use and Delete return ErrNotFound.
func noFactor(t *testing.T, a storage.FactorAdapter, userID, id string) {
	t.Helper()
	_, err := a.Factors().Fail(t.Context(), id)
	is(t, fmt.Sprintf("Fail(%.20q)", id), err, storage.ErrNotFound)
	is(t, fmt.Sprintf("Use(%.20q)", id), a.Factors().Use(t.Context(), id, 1<<50, "x", instant), storage.ErrNotFound)
	_, err = a.Factors().Delete(t.Context(), userID, id)
	is(t, fmt.Sprintf("Delete(%.20q)", id), err, storage.ErrNotFound)
}

// useCode uses a recovery code, and fails the test unless want are left after it.
func useCode(t *testing.T, a storage.FactorAdapter, userID, hash string, want int) {
	t.Helper()
	if left, err := a.Factors().UseRecoveryCode(t.Context(), userID, hash); err != nil || left != want {
		t.Errorf("UseRecoveryCode(%.20q): %d left, error %v, want %d", hash, left, err, want)
	}
}

func noCode(t *testing.T, a storage.FactorAdapter, userID, hash string) {
	t.Helper()
	_, err := a.Factors().UseRecoveryCode(t.Context(), userID, hash)
	is(t, fmt.Sprintf("UseRecoveryCode(%.20q)", hash), err, storage.ErrNotFound)
}

// countsEach calls count from crowd callers at once. The counter stands at from before.
// Each caller has to get a number of its own.
func countsEach(t *testing.T, from int, count func(context.Context) (int, error)) {
	t.Helper()
	got := make([]int, crowd)
	for _, err := range race.Run(crowd, func(i int) (err error) {
		got[i], err = count(t.Context())
		return err
	}) {
		ok(t, err)
	}
	slices.Sort(got)
	for i, n := range got {
		if n != from+i+1 {
			t.Fatalf("the counts are %v, want each number from %d to %d", got, from+1, from+crowd)
		}
	}
}

// keeps returns false if err wraps [errors.ErrUnsupported], which a store returns if its
// tables have no room for a record. It returns true for nil, and ends the test for any
// other error.
func keeps(t *testing.T, err error) bool {
	t.Helper()
	if errors.Is(err, errors.ErrUnsupported) {
		return false
	}
	ok(t, err)
	return true
}
