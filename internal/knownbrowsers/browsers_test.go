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
