package webauthn_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/passkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// countingStore counts what a request asks the store for.
type countingStore struct {
	*memoryadapter.Adapter
	calls *atomic.Int64
}

func (c countingStore) GetUserByEmail(ctx context.Context, email string) (storage.User, error) {
	c.calls.Add(1)
	return c.Adapter.GetUserByEmail(ctx, email)
}

func (c countingStore) ListAuthenticators(ctx context.Context, userID string) ([]storage.Authenticator, error) {
	c.calls.Add(1)
	return c.Adapter.ListAuthenticators(ctx, userID)
}

// distinguisher counts everything that a client sees of an answer, for answers of two
// kinds.
type distinguisher [2]map[string]int

func (d *distinguisher) sees(kind int, feature string, value any) {
	if d[kind] == nil {
		d[kind] = map[string]int{}
	}
	d[kind][feature+" "+fmt.Sprint(value)]++
}

// verdict returns what was seen of the first kind and hardly ever of the second.
func (d *distinguisher) verdict(often int) (tells []string) {
	for _, what := range slices.Sorted(maps.Keys(d[0])) {
		if n, m := d[0][what], d[1][what]; n >= often && n > 6*m {
			tells = append(tells, fmt.Sprintf("%s: %d times with passkeys, %d without", what, n, m))
		}
	}
	return tells
}

// TestDecoysLookReal. With ListDecoys nothing that a client sees of an
// answer tells that an address has passkeys: status, headers, cookies, number and
// lengths of ids, their order, other members, a second look, or what the store does.
// Before, it found the number of ids, their lengths and their transports.
func TestDecoysLookReal(t *testing.T) {
	var calls atomic.Int64
	s := newSite(t, func(c *latchkey.Config, p *latchkey.WebAuthn) {
		c.Adapter = countingStore{c.Adapter.(*memoryadapter.Adapter), &calls}
		p.ListCredentials = passkey.ListDecoys
	})
	n, _ := steps(t, 30)
	random := rand.New(rand.NewPCG(5, 27)) // the verdict is the same each time
	var d distinguisher
	for i := range n {
		known := fmt.Sprintf("known%03d@example.com", i)
		s.enrol(t, random, known)
		s.watch(t, &d, 0, known, &calls)
		s.watch(t, &d, 1, fmt.Sprintf("other%03d@example.com", i), &calls)
	}
	for _, tell := range d.verdict(5 + n/12) {
		t.Error("R-527 " + tell)
	}
}

// enrol stores a user with passkeys as people have them.
func (s *site) enrol(t *testing.T, random *rand.Rand, email string) {
	t.Helper()
	u := must(s.store.CreateUser(t.Context(), storage.User{ID: email, Email: email, Name: "Somebody " + email}))
	for more := true; more; more = random.IntN(3) == 0 {
		length := []int{16, 20, 32, 64}[random.IntN(4)]
		k := storage.Authenticator{
			CredentialID: randomBytes(random, length), UserID: u.ID, PublicKey: []byte{1}, Counter: uint32(random.IntN(9)),
			Transports: [][]string{nil, {"internal"}, {"usb", "nfc"}, {"hybrid", "internal"}}[random.IntN(4)],
		}
		if err := s.store.CreateAuthenticator(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
}

// watch shows the distinguisher the answers about an address.
func (s *site) watch(t *testing.T, d *distinguisher, kind int, email string, calls *atomic.Int64) {
	t.Helper()
	for _, query := range []string{"", "&action=authenticate", "&action=register"} {
		b, _ := s.visit()
		before := calls.Load()
		page := b.Get("/auth/webauthn-options/passkey?email=" + email + query)
		d.sees(kind, query+" calls of the store", calls.Load()-before)
		d.sees(kind, query+" status", page.Status)
		d.sees(kind, query+" headers", slices.Sorted(maps.Keys(page.Header)))
		for _, c := range b.Cookies() {
			d.sees(kind, query+" cookie", fmt.Sprint(c.Name, len(c.Value)))
		}
		if page.Status != http.StatusOK {
			continue
		}
		o, raw := ask(t, b, "?email="+email+query)
		again, _ := ask(t, b, "?email="+email+query)
		ids := o.Options.AllowCredentials
		d.sees(kind, query+" the same again", slices.Equal(ids, again.Options.AllowCredentials))
		d.sees(kind, query+" number", len(ids))
		for _, k := range ids {
			d.sees(kind, query+" length", len(k.ID))
		}
		rest := chosenAnew.ReplaceAllString(strings.ReplaceAll(string(raw), email, ""), "")
		d.sees(kind, query+" members", strings.ReplaceAll(rest, `{,"type":"public-key"},`, ""))
	}
}
