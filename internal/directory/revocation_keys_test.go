package directory

import (
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/keys"
)

// sites with secrets of their own on one store of revocations. An id that was made of a
// foreign jti is no more random than that, and may be that of a session of both sites.
func TestSignOutsOfTwoSites(t *testing.T) {
	store := memoryadapter.New(memoryadapter.Options{})
	with := func(secrets ...string) *Revocations {
		return NewRevocations(Revocations{Store: store, Keys: keys.New(secrets, "", ""), Bounds: &guarded.Bounds{Timeout: 10 * time.Second}, Life: time.Hour, Now: time.Now})
	}
	for id, isApart := range map[string]bool{jwtclaims.AdoptedID("7"): true, "5f2c9d0e": false} {
		from := TokenOrigin{SessionID: id, UserID: "1", Began: time.Now()}
		if err := with("one", "older").Revoke(t.Context(), from); err != nil {
			t.Fatal(err)
		}
		for what, c := range map[string]struct {
			site  *Revocations
			ended bool
		}{
			"the site": {with("one"), true}, "an instance with the older secret": {with("older"), true},
			"an instance with a newer secret": {with("newest", "one"), true}, "another site": {with("two"), !isApart},
		} {
			_, err := c.site.Check(t.Context(), from, false)
			if (err != nil) != c.ended {
				t.Errorf("R-745 session %s, seen by %s: error %v, want an end: %t", id, what, err, c.ended)
			}
		}
	}
}
