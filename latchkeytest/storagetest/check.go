package storagetest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// crowd is how many callers at once the promises about races are tried with.
const crowd = 100

// instant has everything a store may lose: a zone that is not UTC and not whole
// hours, a date that is another day in UTC, and digits below the millisecond.
var instant = time.Date(2031, time.May, 17, 22, 30, 15, 123_456_789, time.FixedZone("", -(9*60+30)*60))

// hostile is text that has broken stores: quotes of query languages, patterns,
// separators of composed keys, bytes that are no text, and a lot of it.
var hostile = []string{
	`'; DROP TABLE users; --`, `" OR ""="`, "`", `\`, `\'`, "%", "_", "*", "?", "$1", "${x}", `{"$ne":null}`, "[]",
	"a:b", "a/b", "../a", "a|b", "null", "undefined", "0", "-1", "1e9", "a\nb", "a\tb", " a", "a ", "\u202ea", "\u00a0",
	"a\x00b", "\x00", "\xff\xfe", "\xed\xa0\x80", strings.Repeat("x", 10<<10), strings.Repeat("é", 5<<10),
}

// unicode is text that every store must keep as it is, byte for byte.
var unicode = []string{
	"Zoë", "Zoe\u0308", "王小明", "مرحبا", "👩‍👩‍👧‍👦", "İıſß", "O'Brien", `C:\new`, "100%_", "  spaces  ", "sha256:x", "{}",
}

// alike are texts that a careless comparison takes for one another.
var alike = []string{"Token", "token", "TOKEN", "token ", " token", "tokén", "toke\u0301n", "token\u200b", "tok%", "tok_n"}

// newUser stores a user with the e-mail address; empty: none.
func newUser(t *testing.T, a storage.Adapter, email string) storage.User {
	t.Helper()
	u, err := a.CreateUser(t.Context(), storage.User{Name: "Ada", Email: email})
	if err != nil {
		t.Fatalf("CreateUser: %v", err)
	}
	return u
}

// link stores an account of u at the provider "acme".
func link(t *testing.T, a storage.Adapter, u storage.User, id string) storage.Account {
	t.Helper()
	account := storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: id, Type: storage.TypeOIDC}
	ok(t, a.LinkAccount(t.Context(), account))
	return account
}

// ok ends the test unless err is nil.
func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// is fails the test, and lets it go on, unless err is want, as errors.Is says. A nil want
// means no error.
func is(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got error %v, want %v", what, err, want)
	}
}

// same fails the test unless two records have the same fields as JSON would write them.
// Times may be cut to the millisecond and must be in UTC. The id of an account is not
// compared, since the store chooses it. T is a struct.
func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	g, w := reflect.New(reflect.TypeFor[T]()).Elem(), reflect.New(reflect.TypeFor[T]()).Elem()
	g.Set(reflect.ValueOf(got))
	w.Set(reflect.ValueOf(want))
	for i := range g.NumField() {
		name := what + "." + g.Type().Field(i).Name
		if !g.Type().Field(i).IsExported() || g.Type() == reflect.TypeFor[storage.Account]() && g.Type().Field(i).Name == "ID" {
			continue
		}
		if at, isTime := g.Field(i).Interface().(time.Time); isTime {
			sameTime(t, name, at, w.Field(i).Interface().(time.Time))
			continue
		}
		if tokens, isTokens := g.Field(i).Interface().(storage.Tokens); isTokens {
			same(t, name, tokens, w.Field(i).Interface().(storage.Tokens))
			continue
		}
		if got, want := asText(g.Field(i)), asText(w.Field(i)); got != want {
			t.Errorf("%s is %.300s, want %.300s", name, got, want)
		}
	}
}

// asText writes a value so that an empty map or slice equals none, and a number
// equals itself in another type.
func asText(v reflect.Value) string {
	if k := v.Kind(); (k == reflect.Map || k == reflect.Slice) && v.Len() == 0 {
		return "none"
	}
	if v.Kind() == reflect.String {
		return strconv.Quote(v.String())
	}
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// sameTime fails the test unless got is want in UTC, cut to a millisecond or not at all.
func sameTime(t *testing.T, what string, got, want time.Time) {
	t.Helper()
	switch {
	case want.IsZero() || got.IsZero():
		if !got.IsZero() || !want.IsZero() {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	case got.Sub(want).Abs() >= time.Millisecond:
		t.Errorf("%s is %v, want %v", what, got, want.UTC())
	case got.Location() != time.UTC:
		t.Errorf("%s is in the zone %v, want UTC", what, got.Location())
	}
}

// oneWins fails unless exactly one of errs is nil and all others are lost.
func oneWins(t *testing.T, what string, errs []error, lost error) {
	t.Helper()
	wins := 0
	for _, err := range errs {
		if err == nil {
			wins++
		} else {
			is(t, what+", of those who lost", err, lost)
		}
	}
	if wins != 1 {
		t.Errorf("%s: %d of %d succeeded, want 1", what, wins, len(errs))
	}
}

// cancelled returns a context that has ended.
func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
