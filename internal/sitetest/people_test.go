package sitetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/users"
)

// TestFindingUsers: P-010, P-013 and P-014, by the calls of an application.
func TestFindingUsers(t *testing.T) {
	s := plainsite.New(t)
	link := func(id string) {
		t.Helper()
		if err := s.Store.LinkAccount(t.Context(), storage.Account{UserID: plainsite.UserID, Provider: "elsewhere", ProviderAccountID: id, Type: storage.TypeOAuth}); err != nil {
			t.Fatal(err)
		}
	}
	link("a/b")
	link("Case")
	if _, err := s.Store.CreateUser(t.Context(), storage.User{ID: "bo", Email: "bo@xn--mnchen-3ya.example"}); err != nil {
		t.Fatal(err)
	}
	for email, want := range map[string]string{
		"ADA@Example.COM": plainsite.UserID, " ada@example.com ": plainsite.UserID, "bo@MÜNCHEN.example": "bo",
		"": "", "nobody@example.com": "", "no address": "", "ada@example.com\x00": "",
	} {
		t.Run(fmt.Sprintf("P-010 %q", email), func(t *testing.T) {
			u, err := s.Auth.Users().ByEmail(t.Context(), email)
			if u.ID != want || want == "" && !errors.Is(err, latchkey.ErrNotFound) || want != "" && err != nil {
				t.Errorf("found %q, %v", u.ID, err)
			}
		})
	}
	for id, want := range map[string]string{"a/b": plainsite.UserID, "Case": plainsite.UserID, "case": "", "": "", "a": ""} {
		t.Run(fmt.Sprintf("P-013 account %q", id), func(t *testing.T) {
			u, err := s.Auth.Users().ByAccount(t.Context(), "elsewhere", id)
			if u.ID != want || want == "" && !errors.Is(err, latchkey.ErrNotFound) {
				t.Errorf("found %q, %v", u.ID, err)
			}
		})
	}
	page, err := s.Auth.Users().List(t.Context(), users.Query{Limit: 1})
	if err != nil || len(page.Users) != 1 || page.Next == "" || page.Order != users.Newest {
		t.Errorf("%d users, order %q, %v", len(page.Users), page.Order, err)
	}
	n := 0
	for _, err := range s.Auth.Users().All(t.Context(), users.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	counted, more, err := s.Auth.Users().Count(t.Context(), users.Query{})
	if n != 2 || counted != 2 || more || err != nil {
		t.Errorf("%d listed, %d counted, %v, %v", n, counted, more, err)
	}
}

// TestQueryOfNoHolder: R-809, a query is saved for a holder, or not at all.
func TestQueryOfNoHolder(t *testing.T) {
	u := plainsite.New(t).Auth.Users()
	saved, err := u.SaveQuery(t.Context(), users.Query{}, "")
	if wrong, is := errors.AsType[*users.InputError](err); !is || wrong.Field != "holder" || saved != "" {
		t.Errorf("R-809 a text without a holder: %v", err)
	}
	saved, err = u.SaveQuery(t.Context(), users.Query{Search: "ada"}, "boss")
	if err != nil {
		t.Fatal(err)
	}
	if q, err := u.OpenQuery(t.Context(), saved, "boss"); err != nil || q.Search != "ada" {
		t.Errorf("R-809 the holder finds %q, %v", q.Search, err)
	}
	for _, other := range []string{"", "Boss"} {
		_, err := u.OpenQuery(t.Context(), saved, other)
		if wrong, is := errors.AsType[*users.InputError](err); !is || wrong.Field != "saved" {
			t.Errorf("R-809 holder %q: %v", other, err)
		}
	}
}

// leanStore has only what every adapter has.
type leanStore struct{ storage.Adapter }

func TestStoreWithoutLists(t *testing.T) {
	s := plainsite.New(t, plainsite.AsTokens, func(c *latchkey.Config) { c.Adapter = leanStore{c.Adapter} })
	u := s.Auth.Users()
	_, listed := u.List(t.Context(), users.Query{})
	_, _, counted := u.Count(t.Context(), users.Query{})
	var all error
	for _, all = range u.All(t.Context(), users.Query{}) {
	}
	for call, err := range map[string]error{"Users.List": listed, "Users.Count": counted, "Users.All": all} {
		if !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, latchkey.ErrMissingAdapterMethods) {
			t.Errorf("P-014 %s: %v", call, err)
		}
		if want := call + " needs an Adapter that is a DirectoryAdapter"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("P-014 %v, want %q", err, want)
		}
	}
	for search, want := range map[string]int{"ADA@example.com": 1, plainsite.UserID: 1, "ada": 0, "nobody@example.com": 0} {
		page, err := u.List(t.Context(), users.Query{Search: search})
		if err != nil || len(page.Users) != want {
			t.Errorf("P-014 %q finds %d users, %v", search, len(page.Users), err)
		}
	}
}
