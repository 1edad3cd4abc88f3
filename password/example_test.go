package password_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/password"
)

// passwords stands for a table with a column for the hash.
type passwords map[string]struct{ userID, hash string }

// authorize is made for the Authorize of [latchkey.Credentials]. An unknown address and
// a wrong password give the same answer after the same time.
func (p passwords) authorize(h *password.Hasher) func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) {
	return func(ctx context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
		row := p[typed["email"]]
		got, err := h.Check(ctx, row.hash, typed["password"])
		if err != nil {
			return latchkey.User{}, err // password.ErrBusy is answered with 503
		}
		if !got.OK {
			return latchkey.User{}, latchkey.ErrCredentialsSignin
		}
		if got.Stale { // hashed by an older program, or with older settings
			if row.hash, err = h.Hash(ctx, typed["password"]); err == nil {
				p[typed["email"]] = row
			}
		}
		return latchkey.User{ID: row.userID}, nil
	}
}

func ExampleHasher() {
	h, err := password.New(password.Options{})
	if err != nil {
		panic(err)
	}
	// A hash that Laravel made. The first sign-in replaces it.
	table := passwords{"ada@example.com": {"1", "$2y$06$t6.TC77rtWhdWDARxgXz6O1M0wpW5B9CYj9T3RGPJ0UT7PF463Tu6"}}
	site := latchkey.Credentials{
		Fields:    []latchkey.Field{{Name: "email", Type: "email"}, {Name: "password", Type: "password"}},
		Authorize: table.authorize(h),
	}
	for _, typed := range []string{"a wrong password", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"} {
		u, err := site.Authorize(context.Background(), map[string]string{"email": "ada@example.com", "password": typed}, nil)
		fmt.Println(strings.TrimSpace(fmt.Sprintln(u.ID, err)))
	}
	fmt.Println(table["ada@example.com"].hash[:30])
	// Output:
	// latchkey: CredentialsSignin
	// 1 <nil>
	// $argon2id$v=19$m=19456,t=2,p=1
}

func ExampleHasher_Weakness() {
	h, err := password.New(password.Options{MinLength: 15, Words: []string{"Acme"}})
	if err != nil {
		panic(err)
	}
	for _, typed := range []string{"hunter2", "acme-ada-example", "four words are plenty"} {
		code, err := h.Weakness(context.Background(), typed, []string{"ada@example.com", "Ada"})
		fmt.Printf("%q %v\n", code, err)
	}
	// Output:
	// "short" <nil>
	// "context" <nil>
	// "" <nil>
}
