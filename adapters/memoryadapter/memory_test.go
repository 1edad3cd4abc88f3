package memoryadapter_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func TestAdapter(t *testing.T) {
	for name, o := range map[string]memoryadapter.Options{"hashed tokens": {}, "plain tokens": {PlainTokens: true}} {
		t.Run(name, func(t *testing.T) {
			latchkeytest.Adapter(t, func(*testing.T) latchkey.Adapter { return memoryadapter.New(o) })
		})
	}
}

func TestTokensAtRest(t *testing.T) {
	for name, row := range map[string]struct {
		options memoryadapter.Options
		plain   bool
	}{
		"R-104 the store does not hold usable tokens": {memoryadapter.Options{}, false},
		"unless it is asked to":                       {memoryadapter.Options{PlainTokens: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := memoryadapter.New(row.options)
			u, err := a.CreateUser(t.Context(), latchkey.User{Name: "Ada"})
			if err != nil {
				t.Fatal(err)
			}
			if err := a.CreateSession(t.Context(), latchkey.StoredSession{Token: "secret", UserID: u.ID, Expires: time.Now()}); err != nil {
				t.Fatal(err)
			}
			stored := a.Contents().Sessions[0].Token
			if got := stored == "secret"; got != row.plain {
				t.Errorf("stored as %q", stored)
			}
			_, _, err = a.GetSessionAndUser(t.Context(), stored)
			if opens := err == nil; opens != row.plain {
				t.Errorf("what is stored opens the session: %v", opens)
			}
		})
	}
}

func TestContentsSharesNothing(t *testing.T) {
	a := memoryadapter.New(memoryadapter.Options{})
	u, err := a.CreateUser(t.Context(), latchkey.User{Extra: map[string]any{"role": "admin"}})
	if err != nil {
		t.Fatal(err)
	}
	a.Contents().Users[0].Extra["role"] = "none"
	if got, _ := a.GetUser(t.Context(), u.ID); got.Extra["role"] != "admin" {
		t.Errorf("role became %v", got.Extra["role"])
	}
}

func TestNestedTransactionRollsBackAlone(t *testing.T) {
	a := memoryadapter.New(memoryadapter.Options{})
	fault := errors.New("fault")
	err := a.InTx(t.Context(), func(outer latchkey.Adapter) error {
		if _, err := outer.CreateUser(t.Context(), latchkey.User{Email: "ada@example.com"}); err != nil {
			return err
		}
		err := outer.(latchkey.TxAdapter).InTx(t.Context(), func(inner latchkey.Adapter) error {
			_, _ = inner.CreateUser(t.Context(), latchkey.User{Email: "eve@example.com"})
			return fault
		})
		if !errors.Is(err, fault) {
			t.Errorf("inner: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if users := a.Contents().Users; len(users) != 1 || users[0].Email != "ada@example.com" {
		t.Errorf("%d users left", len(users))
	}
}

func TestMembersThatAreNoJSON(t *testing.T) {
	a := memoryadapter.New(memoryadapter.Options{})
	if _, err := a.CreateUser(t.Context(), latchkey.User{Email: "ada@example.com", Extra: map[string]any{"f": func() {}}}); err == nil {
		t.Error("a function was stored")
	}
	if n := len(a.Contents().Users); n != 0 {
		t.Errorf("%d users stored", n)
	}
}

// A test looks at what a sign-in left behind.
func ExampleAdapter_Contents() {
	store := memoryadapter.New(memoryadapter.Options{})
	// … sign in through a latchkey.Auth with this store …
	for _, u := range store.Contents().Users {
		fmt.Println(u.Email)
	}
	// Output:
}
