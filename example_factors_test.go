package latchkey_test

import (
	"context"
	"fmt"
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
