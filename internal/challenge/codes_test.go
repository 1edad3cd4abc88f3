package challenge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/storage"
)

func (s *site) code(t *testing.T, c challenge.MailCode) (handle, code string) {
	t.Helper()
	handle, code, err := s.CreateCode(t.Context(), c, 8)
	if err != nil {
		t.Fatal(err)
	}
	return handle, code
}

// F-093: a code stands for what it was made for, under its own handle, for ten
// minutes.
func TestCodesStandForTheirLink(t *testing.T) {
	s := newSite("", newSecret)
	made := challenge.MailCode{For: "email", Identifier: "ann@example.com", UserID: "1", Link: "a link's hash", CallbackURL: "https://app.example/"}
	handle, code := s.code(t, made)
	if len(code) != 8 || strings.Trim(code, "0123456789") != "" {
		t.Errorf("%q", code)
	}
	got, fits, err := s.TryCode(t.Context(), handle, "email")
	if err != nil || got != made || fits(code) != nil || !errors.Is(fits(code+"0"), challenge.ErrWrongCode) || fits(code[:4]+" "+code[4:]) != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if _, _, err := s.TryCode(t.Context(), handle, "signup"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("for something else: %v", err)
	}
	s.now = s.now.Add(challenge.CodeLife)
	if _, _, err := s.TryCode(t.Context(), handle, "email"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("after its life: %v", err)
	}
}

// F-094: five codes are compared.
func TestCodesHaveFiveTries(t *testing.T) {
	s := newSite("", newSecret)
	handle, code := s.code(t, challenge.MailCode{For: "email", Link: "x"})
	for range challenge.CodeTries {
		if _, fits, err := s.TryCode(t.Context(), handle, "email"); err != nil || fits("wrong") == nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.TryCode(t.Context(), handle, "email"); !errors.Is(err, challenge.ErrSpent) {
		t.Errorf("the sixth: %v, and the code was %s", err, code)
	}
}

// A code without a link matches nothing, not even an empty answer.
func TestCodesWithoutLinkMatchNothing(t *testing.T) {
	s := newSite("", newSecret)
	handle, code := s.code(t, challenge.MailCode{For: "signup", Identifier: "ann@example.com"})
	for _, typed := range []string{code, "", " "} {
		if _, fits, err := s.TryCode(t.Context(), handle, "signup"); err != nil || fits(typed) == nil {
			t.Errorf("%q: %v", typed, err)
		}
	}
	for _, c := range s.table.rows {
		if strings.Contains(c.Data, code) {
			t.Error("the store has the code")
		}
	}
}
