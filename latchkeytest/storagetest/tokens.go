package storagetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

// tokenStore is a store of magic links; it needs no users.
type tokenStore = storage.VerificationTokenAdapter

var verificationTokenPromises = []promise[tokenStore]{
	{"a token is used once", func(t *testing.T, a tokenStore) {
		want := newToken(t, a, "ada@example.com", "t")
		got, err := a.UseVerificationToken(t.Context(), want.Identifier, want.Token)
		ok(t, err)
		same(t, "used token", got, want)
		noToken(t, a, want.Identifier, want.Token)
	}},
	{"R-137 of many uses at once exactly one succeeds", func(t *testing.T, a tokenStore) {
		for i := range 5 {
			want := newToken(t, a, "ada@example.com", fmt.Sprint(i))
			oneWins(t, "UseVerificationToken", race.Run(crowd, func(int) error {
				_, err := a.UseVerificationToken(t.Context(), want.Identifier, want.Token)
				return err
			}), storage.ErrNotFound)
		}
	}},
	{"R-141 a token and another identifier do not spend the token", func(t *testing.T, a tokenStore) {
		want := newToken(t, a, "ada@example.com", "t")
		for _, wrong := range append([]string{"", "eve@example.com", "ADA@example.com", "ada@example.com "}, hostile...) {
			noToken(t, a, wrong, want.Token)
			noToken(t, a, want.Identifier, wrong)
		}
		_, err := a.UseVerificationToken(t.Context(), want.Identifier, want.Token)
		ok(t, err)
	}},
	{"an identifier may have several tokens, and a token several identifiers", func(t *testing.T, a tokenStore) {
		tokens := []storage.VerificationToken{
			newToken(t, a, "ada@example.com", "1"), newToken(t, a, "ada@example.com", "2"), newToken(t, a, "eve@example.com", "1"),
		}
		for _, want := range tokens {
			got, err := a.UseVerificationToken(t.Context(), want.Identifier, want.Token)
			ok(t, err)
			same(t, "used token", got, want)
		}
	}},
	{"a pair that is taken is ErrConflict", func(t *testing.T, a tokenStore) {
		want := newToken(t, a, "ada@example.com", "t")
		again := want
		again.Expires, again.Purpose = instant.Add(time.Hour), "invite" // neither is part of the key
		is(t, "CreateVerificationToken", a.CreateVerificationToken(t.Context(), again), storage.ErrConflict)
		got, err := a.UseVerificationToken(t.Context(), want.Identifier, want.Token)
		ok(t, err)
		same(t, "used token", got, want)
		noToken(t, a, want.Identifier, want.Token)
	}},
	{"an expired token is found once, or not at all", func(t *testing.T, a tokenStore) {
		want := storage.VerificationToken{Identifier: "ada@example.com", Token: "t", Expires: time.Now().Add(-time.Hour)}
		ok(t, a.CreateVerificationToken(t.Context(), want))
		got, err := a.UseVerificationToken(t.Context(), want.Identifier, want.Token)
		if errors.Is(err, storage.ErrNotFound) {
			t.Log("the store has removed it")
		} else {
			ok(t, err)
			same(t, "used token", got, want)
		}
		noToken(t, a, want.Identifier, want.Token)
	}},
	{"tokens and identifiers are compared exactly", func(t *testing.T, a tokenStore) {
		for _, text := range alike {
			newToken(t, a, "ada@example.com", text)
			newToken(t, a, text, "t")
		}
		for _, text := range alike {
			for _, key := range [][2]string{{"ada@example.com", text}, {text, "t"}} {
				if _, err := a.UseVerificationToken(t.Context(), key[0], key[1]); err != nil {
					t.Errorf("%q: %v", key, err)
				}
				noToken(t, a, key[0], key[1])
			}
		}
	}},
	{"hostile text is kept whole or refused", func(t *testing.T, a tokenStore) {
		for _, text := range hostile {
			want := storage.VerificationToken{Identifier: text, Token: text, Expires: instant}
			if a.CreateVerificationToken(t.Context(), want) != nil {
				noToken(t, a, text, text)
				continue
			}
			if len(text) > 4 { // what a store may have cut off or folded
				noToken(t, a, text[:len(text)-1], text[:len(text)-1])
			}
			noToken(t, a, strings.ToUpper(text)+"!", text)
			got, err := a.UseVerificationToken(t.Context(), text, text)
			if err != nil {
				t.Errorf("the identifier and token %.20q were accepted, and are not found: %v", text, err)
			}
			same(t, fmt.Sprintf("token %.20q", text), got, want)
		}
	}},
	{"a cancelled context ends the call", func(t *testing.T, a tokenStore) {
		want := newToken(t, a, "ada@example.com", "t")
		ctx := cancelled(t)
		is(t, "CreateVerificationToken", a.CreateVerificationToken(ctx, storage.VerificationToken{Identifier: "e", Token: "e", Expires: instant}), context.Canceled)
		_, err := a.UseVerificationToken(ctx, want.Identifier, want.Token)
		is(t, "UseVerificationToken", err, context.Canceled)
		noToken(t, a, "e", "e")
		_, err = a.UseVerificationToken(t.Context(), want.Identifier, want.Token)
		ok(t, err)
	}},
}

func newToken(t *testing.T, a tokenStore, identifier, token string) storage.VerificationToken {
	t.Helper()
	v := storage.VerificationToken{Identifier: identifier, Token: token, Expires: instant}
	if err := a.CreateVerificationToken(t.Context(), v); err != nil {
		t.Fatalf("CreateVerificationToken: %v", err)
	}
	return v
}

func noToken(t *testing.T, a tokenStore, identifier, token string) {
	t.Helper()
	_, err := a.UseVerificationToken(t.Context(), identifier, token)
	is(t, fmt.Sprintf("UseVerificationToken(%.20q, %.20q)", identifier, token), err, storage.ErrNotFound)
}
