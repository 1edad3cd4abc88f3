package sitetest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/internal/testclock"
)

// A passwordSite is a site whose application knows its users by what they type. It
// records when an attacker has guessed wrong, for each account.
type passwordSite struct {
	auth    *latchkey.Auth
	clock   *testclock.Clock
	find    func(typed map[string]string) string // the account that is meant; empty: none
	guesses map[string][]time.Time
	guesser bool // the attacker types
}

// passwordOf returns the right password of an account.
func passwordOf(account string) string { return "password of " + account }

func (s *passwordSite) authorize(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
	account := s.find(typed)
	if account == "" {
		return latchkey.User{}, nil
	}
	if typed["password"] == passwordOf(account) {
		return latchkey.User{ID: "id of " + account, Name: account}, nil
	}
	if s.guesser {
		s.guesses[account] = append(s.guesses[account], s.clock.Now())
	}
	return latchkey.User{}, nil
}

// overLimit returns the window in which there were more guesses than the rate
// allows: as many as its events at once, and one more each share of its period.
func overLimit(at []time.Time, r latchkey.Rate) string {
	for from := range at {
		for to := from + r.Events; to < len(at); to++ {
			window := at[to].Sub(at[from])
			allowed := r.Events + int(window/(r.Per/time.Duration(r.Events)))
			if got := to - from + 1; got > allowed {
				return fmt.Sprintf("%d in %v, want %d at most", got, window, allowed)
			}
		}
	}
	return ""
}

// A population is the users of a site, and how their names may be typed.
type population struct {
	accounts []string
	find     func(typed map[string]string) string
	fields   []latchkey.Field
	spell    func(random *rand.Rand, account string) map[string]string
}

func populations() map[string]population {
	name := []latchkey.Field{{Name: "name"}, {Name: "password", Type: "password"}}
	exactly := []string{"alice", "ALICE", "Alice", "alíce", "ａlice", "bob"}
	accents := []string{"alice", "bob", "carol", "eve"}
	variants := strings.NewReplacer("a", "á", "l", "Ł", "i", "İ", "c", "Ç", "e", "ê", "b", "🅑", "o", "ø")
	return map[string]population{
		"names that differ in case, accents or width": {exactly, func(typed map[string]string) string {
			if slices.Contains(exactly, typed["name"]) {
				return typed["name"]
			}
			return ""
		}, name, func(_ *rand.Rand, account string) map[string]string { return map[string]string{"name": account} }},
		"names that the database compares without accents": {accents, func(typed map[string]string) string {
			plain := strings.NewReplacer("á", "a", "Ł", "l", "İ", "i", "Ç", "c", "ê", "e", "🅑", "b", "ø", "o", "A", "a", "L", "l", "\u200b", "").Replace(typed["name"])
			if slices.Contains(accents, plain) {
				return plain
			}
			return ""
		}, name, func(random *rand.Rand, account string) map[string]string {
			typed := ""
			for _, letter := range strings.Split(account, "") {
				typed += oneOf(random, []string{letter, variants.Replace(letter), letter + "\u200b", strings.ReplaceAll(strings.ReplaceAll(letter, "a", "A"), "l", "L")})
			}
			return map[string]string{"name": typed}
		}},
		"a company, a name and a password": {[]string{"acme/alice", "acme/bob", "acme/eve"}, func(typed map[string]string) string {
			return typed["company"] + "/" + typed["name"]
		}, []latchkey.Field{{Name: "company"}, {Name: "name"}, {Name: "password", Type: "password"}}, func(_ *rand.Rand, account string) map[string]string {
			company, name, _ := strings.Cut(account, "/")
			return map[string]string{"company": company, "name": name}
		}},
	}
}

func newPasswordSite(t *testing.T, p population, tenants []string, rate latchkey.Rate) *passwordSite {
	t.Helper()
	s := &passwordSite{clock: newTestClock(), find: p.find, guesses: map[string][]time.Time{}}
	config := func(tenant string) *latchkey.Config {
		return &latchkey.Config{
			Site: latchkey.Site{URL: siteOrigin}, Secrets: []string{siteSecret}, Runtime: latchkey.Runtime{Time: s.clock.Now, Logger: (&logBuffer{}).logger()},
			Limits: latchkey.Limits{CredentialsPerAccount: rate, CredentialsPerClient: latchkey.Rate{Events: 1 << 20, Per: time.Hour}},
			Providers: []latchkey.Provider{&latchkey.Credentials{ID: "crew", Fields: p.fields, Authorize: func(ctx context.Context, typed map[string]string, r *latchkey.Request) (latchkey.User, error) {
				of := *s // the tenant's own users
				of.find = func(typed map[string]string) string {
					if account := p.find(typed); account != "" {
						return tenant + account
					}
					return ""
				}
				return of.authorize(ctx, typed, r)
			}}},
		}
	}
	var err error
	if len(tenants) == 0 {
		s.auth, err = latchkey.New(*config(""))
	} else {
		s.auth, err = latchkey.NewTenants(latchkey.Tenants{
			Name:   func(_ context.Context, r *latchkey.Request) (string, error) { return r.Header.Get("X-Tenant"), nil },
			Config: func(_ context.Context, tenant string) (*latchkey.Config, error) { return config(tenant), nil },
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// try posts what is typed, from a browser at a tenant.
func (s *passwordSite) try(b *browser, client string, typed map[string]string) *answer {
	b.site.t.Helper()
	form := url.Values{"csrfToken": {b.token()}}
	for name, value := range typed {
		form.Set(name, value)
	}
	r := b.request(http.MethodPost, "/auth/callback/crew", formContentType, form.Encode())
	r.RemoteAddr = client
	return b.serve(s.auth, r)
}

// whatever an attacker mixes of names, spellings, browsers, clients,
// tenants and sign-ins of their own, wrong guesses at one account never exceed the
// rate. The owner of each account signs in now and then. Against the code of
// before, every population fails: a success forgot what was counted under a name
// that is counted alike, the browser of one user had a budget at another's account,
// and accents multiplied budgets.
func TestGuessesAtAnAccountNeverExceedTheRate(t *testing.T) {
	all := populations()
	seed, steps := race.Walk(t, 250, 2*len(all))
	random := rand.New(rand.NewPCG(seed, 0))
	rate := latchkey.Rate{Events: 4, Per: time.Hour}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p := all[name]
		for _, tenants := range [][]string{nil, {"red", "blue"}} {
			t.Run(fmt.Sprintf("R-501 R-508 %s, %d tenants", name, len(tenants)), func(t *testing.T) {
				s := newPasswordSite(t, p, tenants, rate)
				site := &testSite{t: t, auth: s.auth}
				browsers := map[bool][]*browser{}
				for range 6 {
					browsers[true] = append(browsers[true], site.newBrowser())
					browsers[false] = append(browsers[false], site.newBrowser())
				}
				theirs := p.accounts[len(p.accounts)-2:] // the attacker owns one for each tenant, and one more
				for range steps {
					s.guesser = random.IntN(5) > 0
					b := oneOf(random, browsers[s.guesser])
					tenant := ""
					if len(tenants) > 0 {
						tenant = oneOf(random, tenants)
						b = b.at(tenant)
					}
					account := oneOf(random, p.accounts)
					owns := slices.Contains(theirs, account)
					typed := p.spell(random, account)
					if typed["password"] = fmt.Sprint("guess ", random.Int()); owns == s.guesser && random.IntN(2) == 0 {
						typed["password"] = passwordOf(tenant + account)
					}
					s.try(b, fmt.Sprintf("192.0.2.%d:1", random.IntN(200)), typed)
					if random.IntN(8) == 0 {
						s.clock.Advance(time.Duration(random.Int64N(int64(20 * time.Minute))))
					}
				}
				for account, at := range s.guesses {
					if over := overLimit(at, rate); over != "" && !slices.Contains(theirs, strings.TrimPrefix(strings.TrimPrefix(account, "red"), "blue")) {
						t.Errorf("guesses at %q: %s", account, over)
					}
				}
				if len(s.guesses) == 0 {
					t.Error("there was no guess at all")
				}
			})
		}
	}
}
