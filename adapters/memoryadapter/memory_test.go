package memoryadapter_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

func TestAdapter(t *testing.T) {
	for name, o := range map[string]memoryadapter.Options{"hashed tokens": {}, "plain tokens": {PlainTokens: true}} {
		t.Run(name, func(t *testing.T) {
			storagetest.TestAdapter(t, func(*testing.T) storage.Adapter { return memoryadapter.New(o) })
			latchkeytest.TestUnlink(t, func(*testing.T) storage.Adapter { return memoryadapter.New(o) })
			latchkeytest.TestRecovery(t, func(*testing.T) storage.Adapter { return memoryadapter.New(o) })
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
			u, err := a.CreateUser(t.Context(), storage.User{Name: "Ada"})
			if err != nil {
				t.Fatal(err)
			}
			if err := a.CreateSession(t.Context(), storage.StoredSession{Token: "secret", UserID: u.ID, Expires: time.Now()}); err != nil {
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
	u, err := a.CreateUser(t.Context(), storage.User{Extra: map[string]any{"role": "admin"}})
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
	err := a.InTx(t.Context(), func(outer storage.Adapter) error {
		if _, err := outer.CreateUser(t.Context(), storage.User{Email: "ada@example.com"}); err != nil {
			return err
		}
		err := outer.(storage.TxAdapter).InTx(t.Context(), func(inner storage.Adapter) error {
			_, _ = inner.CreateUser(t.Context(), storage.User{Email: "eve@example.com"})
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

// P-005: a rare filter costs a window of users a call, and is found behind empty pages.
func TestWindow(t *testing.T) {
	a := memoryadapter.New(memoryadapter.Options{})
	for i := range 10 {
		u := storage.User{ID: fmt.Sprintf("id%d", i)}
		if i == 9 {
			u.EmailVerified = time.Now()
		}
		if _, err := a.CreateUser(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	q := storage.PeopleQuery{Order: storage.ByID, Verified: new(true), Limit: 5, Window: 3}
	for page := range 4 {
		users, next, err := a.People().List(t.Context(), q)
		if isLast := page == 3; err != nil || isLast != (len(users) == 1) || isLast != (next == "") {
			t.Fatalf("P-005 page %d has %d users and goes on at %q: %v", page, len(users), next, err)
		}
		q.After = next
	}
}

func TestMembersThatAreNoJSON(t *testing.T) {
	a := memoryadapter.New(memoryadapter.Options{})
	if _, err := a.CreateUser(t.Context(), storage.User{Email: "ada@example.com", Extra: map[string]any{"f": func() {}}}); err == nil {
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
