package latchkey_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/providers"
)

// Authenticator apps with recovery codes. Users switch theirs on at /auth/account, and
// are asked for a code at the next sign-in.
func ExampleFactors() {
	auth, err := latchkey.New(latchkey.Config{
		Site:        latchkey.Site{URL: "https://app.example"},
		Secrets:     []string{"a secret from AUTH_SECRET, of 32 characters or more"},
		Adapter:     memoryadapter.New(memoryadapter.Options{}), // sqladapter in production
		Providers:   []latchkey.Provider{providers.GitHub(latchkey.OAuth{ClientID: "id", ClientSecret: "secret"})},
		AccountPage: latchkey.AccountPage{Enabled: true},
		Factors:     latchkey.Factors{Kinds: []latchkey.FactorKind{latchkey.FactorTOTP, latchkey.FactorRecovery}},
	})
	fmt.Println(auth != nil, err)
	// Output: true <nil>
}

// Pages for which a session is not enough. Deleting everything needs a proof of the last
// five minutes, and money a second factor as well. The user gives it at /auth/reauth, and
// comes back. An integration with a framework of its own asks Core.Unmet, and names the
// proof in a challenge. The identity provider of the company is trusted to have asked for
// two factors where it says so.
func ExampleNeedRecent() {
	auth, err := latchkey.New(latchkey.Config{
		Site:    latchkey.Site{URL: "https://app.example"},
		Secrets: []string{"a secret from AUTH_SECRET, of 32 characters or more"},
		Adapter: memoryadapter.New(memoryadapter.Options{}), // sqladapter in production
		Providers: []latchkey.Provider{providers.Google(latchkey.OAuth{
			ClientID: "id", ClientSecret: "secret", Assurance: latchkey.UpstreamMFA(),
		})},
		AccountPage: latchkey.AccountPage{Enabled: true},
		Factors:     latchkey.Factors{Kinds: []latchkey.FactorKind{latchkey.FactorTOTP, latchkey.FactorRecovery}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	page := http.NotFoundHandler()
	site := http.NewServeMux()
	site.Handle("/delete", auth.RequireRecent(5*time.Minute)(page))
	site.Handle("/keys", auth.RequireFactor(latchkey.FactorTOTP)(page))
	site.Handle("/pay", auth.Authorize(func(_ *http.Request, s *latchkey.Session) error {
		if s == nil {
			return latchkey.ErrNoSession
		}
		return errors.Join(latchkey.NeedFactor(), latchkey.NeedRecent(5*time.Minute))
	})(page))

	old := &latchkey.Session{UserID: "ada", Assurance: latchkey.Assurance{Proved: time.Now().Add(-time.Hour)}}
	why := auth.Core().Unmet(context.Background(), old, latchkey.NeedRecent(5*time.Minute))
	fmt.Println(latchkey.StepUpChallenge(why))
	// Output: error="insufficient_user_authentication", max_age="300"
}

// A policy: staff who sign in with a password need a second factor, and have until June
// to set one up. The terminals in the shop, which have a provider of their own, ask for
// none.
func ExampleFactors_require() {
	ends := time.Date(2027, time.June, 1, 0, 0, 0, 0, time.UTC)
	factors := latchkey.Factors{
		Kinds: []latchkey.FactorKind{latchkey.FactorTOTP, latchkey.FactorPasskey, latchkey.FactorRecovery},
		Require: func(_ context.Context, q latchkey.FactorQuestion) (latchkey.FactorDemand, error) {
			switch {
			case q.Account.Provider == "terminal":
				return latchkey.FactorDemand{Need: latchkey.FactorNone}, nil
			case q.User.Extra["staff"] == true && slices.Contains(q.Proven.AMR, "pwd") && len(q.Enrolled) == 0:
				return latchkey.FactorDemand{Need: latchkey.FactorRequired, Until: ends}, nil
			}
			return latchkey.FactorDemand{Need: latchkey.FactorIfEnrolled}, nil
		},
	}
	limits := latchkey.Limits{FactorPerUser: latchkey.Rate{Events: 5, Per: time.Hour}}

	staff := latchkey.FactorQuestion{User: latchkey.User{Extra: map[string]any{"staff": true}}, Proven: latchkey.Assurance{AMR: []string{"pwd"}}}
	demand, err := factors.Require(context.Background(), staff)
	var wanted latchkey.FactorNeed = latchkey.FactorRequired
	fmt.Println(demand.Need == wanted, err, limits.FactorPerUser.Events)
	// Output: true <nil> 5
}
