package knownbrowsers_test

import (
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/knownbrowsers"
	"github.com/latchkeyhq/latchkey/storage"
)

// a sign-in that has read a browser before it was forgotten, or before its trust
// was taken away, does not give the trust back.
func TestTrustStaysTaken(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, take := range map[string]func(*knownbrowsers.Browsers) error{
		"R-672 distrusted": func(b *knownbrowsers.Browsers) error { return b.Distrust(t.Context(), "ann") },
		"R-672 forgotten": func(b *knownbrowsers.Browsers) error {
			_, err := b.Store.Delete(t.Context(), "ann", "")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, store := t.Context(), memoryadapter.New(memoryadapter.Options{})
			b := &knownbrowsers.Browsers{Store: store.Browsers(), Now: func() time.Time { return now }}
			handle := ""
			for _, id := range []string{"bob", "ann"} { // who share the browser
				if _, err := store.CreateUser(ctx, storage.User{ID: id}); err != nil {
					t.Fatal(err)
				}
				var err error
				if handle, err = b.SignedIn(ctx, knownbrowsers.SignIn{Handle: handle, UserID: id, At: now, Trusted: now.Add(time.Hour)}); err != nil {
					t.Fatal(err)
				}
			}
			known, err := b.Get(ctx, handle, "ann", time.Time{})
			if err != nil || !b.IsTrusted(known) {
				t.Fatalf("%+v, %v", known, err)
			}
			if err := take(b); err != nil {
				t.Fatal(err)
			}
			next, err := b.SignedIn(ctx, knownbrowsers.SignIn{Handle: handle, UserID: "ann", Known: known, At: now})
			if err != nil || next == "" {
				t.Fatalf("%q, %v", next, err)
			}
			if after, err := b.Get(ctx, next, "ann", time.Time{}); err != nil || after == nil || b.IsTrusted(after) {
				t.Errorf("%+v, %v", after, err)
			}
			if other, err := b.Get(ctx, next, "bob", time.Time{}); err != nil || !b.IsTrusted(other) {
				t.Errorf("the other user: %+v, %v", other, err)
			}
		})
	}
}

func TestBrowsersEnd(t *testing.T) {
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	now, trust := start, 30*24*time.Hour
	ctx, store := t.Context(), memoryadapter.New(memoryadapter.Options{})
	b := &knownbrowsers.Browsers{Store: store.Browsers(), Now: func() time.Time { return now }}
	for _, id := range []string{"ann", "bob"} {
		if _, err := store.CreateUser(ctx, storage.User{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	signIn := func(t *testing.T, handle string, trusted time.Time) string {
		t.Helper()
		known, err := b.Get(ctx, handle, "ann", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		next, err := b.SignedIn(ctx, knownbrowsers.SignIn{Handle: handle, UserID: "ann", Known: known, At: start, Trusted: trusted})
		if err != nil || next == "" {
			t.Fatalf("%q, %v", next, err)
		}
		return next
	}
	get := func(t *testing.T, handle, userID string, void time.Time) *storage.Browser {
		t.Helper()
		row, err := b.Get(ctx, handle, userID, void)
		if err != nil {
			t.Fatal(err)
		}
		return row
	}
	first := signIn(t, "", start.Add(trust))
	t.Run("F-201 a row from before the end of the user's sessions does not count", func(t *testing.T) {
		if get(t, first, "ann", start) != nil || get(t, first, "ann", start.Add(-time.Millisecond)) == nil {
			t.Error("the instant does not decide")
		}
	})
	t.Run("F-058 it is known for its own user", func(t *testing.T) {
		if get(t, first, "bob", time.Time{}) != nil || get(t, "", "ann", time.Time{}) != nil {
			t.Error("it is known for another user, or without a handle")
		}
	})
	second := signIn(t, first, time.Time{})
	t.Run("F-061 the former handle names nothing", func(t *testing.T) {
		if get(t, first, "ann", time.Time{}) != nil || get(t, second, "ann", time.Time{}) == nil {
			t.Error("the handle is not renewed")
		}
	})
	t.Run("F-061 of two sign-ins at once one keeps the browser", func(t *testing.T) {
		known := get(t, second, "ann", time.Time{})
		if next, err := b.SignedIn(ctx, knownbrowsers.SignIn{Handle: first, UserID: "ann", Known: known, At: start}); next != "" || err != nil {
			t.Errorf("%q, %v", next, err)
		}
		if rows, err := b.Store.List(ctx, "ann"); len(rows) != 1 || err != nil {
			t.Errorf("%d rows, %v", len(rows), err)
		}
	})
	t.Run("F-059 trust ends at its instant, however often it is used", func(t *testing.T) {
		now = start.Add(trust - time.Millisecond)
		second = signIn(t, second, time.Time{})
		if !b.IsTrusted(get(t, second, "ann", time.Time{})) {
			t.Error("it has ended before")
		}
		now = start.Add(trust)
		if b.IsTrusted(get(t, second, "ann", time.Time{})) {
			t.Error("it has not ended")
		}
	})
	t.Run("F-059 a browser is known for 90 days after a sign-in", func(t *testing.T) {
		now = now.Add(knownbrowsers.Life - 2*time.Millisecond)
		if get(t, second, "ann", time.Time{}) == nil {
			t.Error("it has ended before")
		}
		now = now.Add(time.Millisecond)
		if get(t, second, "ann", time.Time{}) != nil {
			t.Error("it has not ended")
		}
	})
}
