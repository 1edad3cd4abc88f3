package sitetest

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

// passwordWorld is a site with one user, and what the test believes of it.
type passwordWorld struct {
	*managedSite
	f        *factorSite
	r        *rand.Rand
	user     storage.User
	password string
	former   string // the password before; empty: none
	factor   string // id of the app; empty: none
	made     int    // passwords that were chosen

	browsers []*browser
	inside   map[*browser]bool // the browser has a session that nothing has ended
	waiting  map[*browser]bool // its first factor was right, and nothing has ended that
	links    map[string]bool   // of resets; true: it still works
}

// ended notes that everything the user has proven is void.
func (w *passwordWorld) ended() {
	clear(w.inside)
	clear(w.waiting)
	for link := range w.links {
		w.links[link] = false
	}
	w.clock.Advance(time.Second)
}

func (w *passwordWorld) choose() string {
	w.made++
	return "a password of some length " + strconv.Itoa(w.made)
}

// passwordSteps are what can happen in the world.
var passwordSteps = map[string]func(t *testing.T, w *passwordWorld, b *browser){
	"a wrong password": func(t *testing.T, w *passwordWorld, b *browser) {
		if b.tries(annMail, w.password+"x").signsIn() {
			t.Error("it signs in")
		}
	},
	"a password of before": func(t *testing.T, w *passwordWorld, b *browser) {
		if w.former != "" && b.tries(annMail, w.former).signsIn() {
			t.Error("it signs in")
		}
	},
	"the right password": func(t *testing.T, w *passwordWorld, b *browser) {
		a := b.tries(annMail, w.password)
		if a.signsIn() != (w.factor == "") {
			t.Errorf("it signs in: %t, to %q", a.signsIn(), a.location())
		}
		if w.factor == "" {
			w.inside[b] = true
			delete(w.waiting, b)
		} else {
			w.waiting[b] = true
		}
	},
	"a wrong code": func(t *testing.T, w *passwordWorld, b *browser) {
		if b.factor("totp", wrongCode(w.f.code(5))).signsIn() {
			t.Error("it signs in")
		}
		delete(w.waiting, b) // no more than five are tried: the next sign-in begins anew
		b.post("/auth/factor?do=cancel")
	},
	"the right code": func(t *testing.T, w *passwordWorld, b *browser) {
		if w.factor == "" {
			return
		}
		w.clock.Advance(time.Minute) // the code of before is used up
		a := b.factor("totp", w.f.code(0))
		if a.signsIn() != w.waiting[b] {
			t.Errorf("it signs in: %t, and the first factor counts: %t", a.signsIn(), w.waiting[b])
		}
		if w.waiting[b] {
			w.inside[b] = true
		}
		delete(w.waiting, b)
	},
	"a link is asked for": func(_ *testing.T, w *passwordWorld, b *browser) {
		if len(w.links) < 4 {
			b.post("/auth/password?do=forgot", "email", annMail)
			w.links[path(w.lastMail(latchkey.MessagePasswordReset))] = true
		}
	},
	"a link is used": func(t *testing.T, w *passwordWorld, b *browser) {
		for _, link := range slices.Sorted(maps.Keys(w.links))[:min(1, len(w.links))] {
			works := w.links[link]
			next, code := w.choose(), ""
			if w.factor != "" {
				w.clock.Advance(time.Minute)
				code = w.f.code(0)
			}
			a := b.post(link, "password", next, "code", code)
			if set := strings.Contains(a.location(), "done=reset"); set != works || a.signsIn() {
				t.Errorf("it sets a password: %t, want %t; it leads to %q", set, works, a.location())
			}
			delete(w.links, link)
			if works {
				w.former, w.password = w.password, next
				w.ended()
			}
		}
	},
	"the application sets one": func(t *testing.T, w *passwordWorld, _ *browser) {
		w.former, w.password = w.password, w.choose()
		if err := w.auth.Users().SetPassword(t.Context(), w.user.ID, w.password); err != nil {
			t.Error(err)
		}
		w.ended()
	},
	"sessions end": func(t *testing.T, w *passwordWorld, _ *browser) {
		if err := w.auth.Users().EndSessions(t.Context(), w.user.ID); err != nil {
			t.Error(err)
		}
		w.ended()
	},
	"a factor comes or goes": func(t *testing.T, w *passwordWorld, _ *browser) {
		users := w.auth.Users()
		if w.factor != "" {
			if err := users.RemoveFactor(t.Context(), w.user.ID, w.factor); err != nil {
				t.Error(err)
			}
			w.factor = ""
			w.ended()
			return
		}
		w.f.enrol(w.user.ID)
		all, err := users.Factors(t.Context(), w.user.ID)
		if err != nil || len(all) == 0 {
			t.Fatal(all, err)
		}
		w.factor = all[0].ID
		w.ended()
	},
	"time passes": func(_ *testing.T, w *passwordWorld, _ *browser) {
		w.clock.Advance(time.Duration(w.r.IntN(60)) * time.Second)
	},
}

// TestPasswordsAtRandom takes random steps with passwords, codes, links and factors. No
// session lives that was proven before the last end, and none opens without the
// password and the factor of now (F-208).
func TestPasswordsAtRandom(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		t.Run("F-208 "+string(strategy), func(t *testing.T) {
			seed, steps := race.Steps(t, 300)
			w := &passwordWorld{r: rand.New(rand.NewPCG(seed, 0)), password: annsPass, inside: map[*browser]bool{}, waiting: map[*browser]bool{}, links: map[string]bool{}}
			w.managedSite = newManagedSite(t, strategy, withFactors, func(c *latchkey.Config) {
				c.Limits.Disabled = true
				c.Factors.Pending = time.Hour
				c.Factors.Remember = -1
				c.Providers[len(c.Providers)-1].(*latchkey.Password).LinkMaxAge = 24 * time.Hour
			})
			w.f = &factorSite{testSite: w.testSite}
			w.user = w.addUser(annMail, annsPass)
			for range 4 {
				w.browsers = append(w.browsers, w.newBrowser())
			}
			names := slices.Sorted(maps.Keys(passwordSteps))
			for i := range steps {
				w.clock.Advance(time.Second)
				name, b := names[w.r.IntN(len(names))], w.browsers[w.r.IntN(len(w.browsers))]
				passwordSteps[name](t, w, b)
				for j, b := range w.browsers {
					if live := b.isLive(); live != w.inside[b] {
						t.Errorf("browser %d is signed in: %t, want %t", j, live, w.inside[b])
					}
				}
				if t.Failed() {
					t.Fatalf("step %d of seed %d: %s", i, seed, name)
				}
			}
		})
	})
}

// F-207: of the ways in of a user one stays.
func TestOneWayInStays(t *testing.T) {
	s := newManagedSite(t, latchkey.DatabaseSessions)
	ctx, users := t.Context(), s.auth.Users()
	link := func(u storage.User, provider string) latchkey.AccountRef {
		a := storage.Account{UserID: u.ID, Provider: provider, ProviderAccountID: provider + u.ID, Type: storage.TypeOAuth}
		if err := s.store.LinkAccount(ctx, a); err != nil {
			t.Fatal(err)
		}
		return latchkey.AccountRef{UserID: u.ID, Provider: provider, ProviderAccountID: a.ProviderAccountID}
	}
	t.Run("F-207 a password counts while the address is proven", func(t *testing.T) {
		u := s.addUser(annMail, annsPass)
		if err := users.Unlink(ctx, link(u, "acme")); err != nil {
			t.Error(err)
		}
	})
	t.Run("F-207 a password with an address that was never proven is none", func(t *testing.T) {
		u, err := s.store.CreateUser(ctx, storage.User{Email: "bob@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		if err := users.SetPasswordHash(ctx, u.ID, s.hasher.of(annsPass)); err != nil {
			t.Fatal(err)
		}
		if err := users.Unlink(ctx, link(u, "acme")); !errors.Is(err, latchkey.ErrLastAccount) {
			t.Errorf("%v", err)
		}
	})
	t.Run("F-207 two removals at once leave one", func(t *testing.T) {
		for range 50 {
			u, err := s.store.CreateUser(ctx, storage.User{Name: "Eve"})
			if err != nil {
				t.Fatal(err)
			}
			first := link(u, "acme")
			second := storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "other" + u.ID, Type: storage.TypeOAuth}
			if err := s.store.LinkAccount(ctx, second); err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			for _, ref := range []latchkey.AccountRef{first, {UserID: u.ID, Provider: "acme", ProviderAccountID: second.ProviderAccountID}} {
				all.Go(func() {
					if err := users.Unlink(ctx, ref); err != nil && !errors.Is(err, latchkey.ErrLastAccount) {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if left, err := users.Accounts(ctx, u.ID); err != nil || len(left) != 1 {
				t.Fatalf("%d are left, %v", len(left), err)
			}
		}
	})
}
