package kvstore

import (
	"regexp"
	"strings"
	"testing"
)

// S-053: whatever identifiers are made of, no two keys meet, and every name is
// one that stores take.
func TestNames(t *testing.T) {
	texts := []string{
		"", "a", "ab", "abc", "bc", "c", "A", "a:b", "b:c", "1:a", "2:ab1:c", "a\x00b", "\x00", "\xff", "\ufffd", "é", "e\u0301", "a ", " a", "=", "-", "_", "null",
		"=" + hash("a"), hash("a"), hash("ab", "c"), strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("x", 10<<10), strings.Repeat("x", 10<<10) + "y",
	}
	seen, valid := map[Key]string{}, regexp.MustCompile(`^[-_=A-Za-z0-9]{1,64}$`)
	add := func(k Key, of string) {
		if !valid.MatchString(k.Name) {
			t.Errorf("%.30q is called %q", of, k.Name)
		}
		if former, twice := seen[k]; twice && former != of {
			t.Errorf("%.30q and %.30q have one key", of, former)
		}
		seen[k] = of
	}
	for _, text := range texts {
		for _, one := range []func(string) Key{keyOfUser, keyOfEmail, keyOfSession, keyOfRevocation, keyOfUsed, keyOfLimit} {
			add(one(text), text)
		}
		add(keyOfAuthenticator([]byte(text)), text)
		for _, other := range texts {
			for _, two := range []func(string, string) Key{keyOfAccount, keyOfSignUp, keyOfLink} {
				add(two(text, other), text+"\x01and\x01"+other)
			}
		}
	}
	if want := 7*len(texts) + 3*len(texts)*len(texts); len(seen) != want {
		t.Errorf("%d keys, want %d", len(seen), want)
	}
}

func TestPlainNamesAreReadable(t *testing.T) {
	for _, id := range []string{"8a6e0804-2bd0-4672-b79d-d97027f9071a", "user_1", strings.Repeat("x", 64)} {
		if got := keyOfUser(id).Name; got != id {
			t.Errorf("%q is called %q", id, got)
		}
	}
}
