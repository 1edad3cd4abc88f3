package latchkeytest_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"unicode"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

func TestCrowd(t *testing.T) {
	crowd := latchkeytest.Crowd(400)
	if !reflect.DeepEqual(crowd, latchkeytest.Crowd(400)) || !reflect.DeepEqual(crowd[:7], latchkeytest.Crowd(7)) || len(latchkeytest.Crowd(-1)) != 0 {
		t.Error("a crowd is not the same each time")
	}
	ids, scripts, nameless, unproven := map[string]bool{}, map[string]bool{}, 0, 0
	for _, u := range crowd {
		ids[u.ID+u.Email] = true
		if u.Name == "" {
			nameless++
		}
		if u.EmailVerified.IsZero() {
			unproven++
		}
		for name, table := range unicode.Scripts {
			if name != "Common" && name != "Inherited" && unicode.In([]rune(u.Name + " ")[0], table) {
				scripts[name] = true
			}
		}
	}
	if len(ids) != 400 || len(scripts) != 20 || nameless != 40 || unproven != 80 {
		t.Errorf("%d ids, %d scripts, %d without a name, %d unproven", len(ids), len(scripts), nameless, unproven)
	}
}

// A test of a list fills its store.
func ExampleCrowd() {
	store := memoryadapter.New(memoryadapter.Options{})
	for _, u := range latchkeytest.Crowd(300) {
		if _, err := store.CreateUser(context.Background(), u); err != nil {
			fmt.Println(err)
			return
		}
	}
	n, err := store.People().Count(context.Background(), storage.PeopleQuery{}, 1000)
	fmt.Println(n, err)
	// Output: 300 <nil>
}
