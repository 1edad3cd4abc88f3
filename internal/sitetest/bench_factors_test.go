package sitetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/turns"
)

// BenchmarkFactorsRead is a session read of a site with second factors, in turns with
// one of a site without, the bare one.
func BenchmarkFactorsRead(b *testing.B) {
	for _, strategy := range []latchkey.Strategy{latchkey.JWTSessions, latchkey.DatabaseSessions} {
		b.Run(string(strategy), func(b *testing.B) {
			with := func(c *latchkey.Config) { c.Session.Strategy, c.Runtime.Logger = strategy, quiet }
			guarded, plain := newManagedSite(b, strategy, withFactors, with), newManagedSite(b, strategy, with)
			look := func(s *managedSite) func(int) error {
				s.addUser(annMail, annsPass)
				in := s.newBrowser()
				in.tries(annMail, annsPass)
				return func(int) error {
					if !strings.Contains(in.session(), annMail) {
						return errors.New("nobody is signed in")
					}
					return nil
				}
			}
			turns.Compare(b, look(guarded), look(plain))
		})
	}
}

// BenchmarkFactor is a sign-in with a password and a code, in turns with two sign-ins by
// a password, the bare one: each has two requests.
func BenchmarkFactor(b *testing.B) {
	unlimited := func(c *latchkey.Config) {
		c.Limits.Disabled, c.Runtime.Logger = true, quiet
		c.Factors.Remember = -1
	}
	s := newFactorSite(b, unlimited)
	plain := newSite(b, unlimited)
	plain.store.CreateUser(b.Context(), latchkey.User{ID: "alice-1", Name: "Alice", Email: "alice@example.com", EmailVerified: plain.clock.Now()})
	turns.Compare(b, func(int) error {
		s.clock.Advance(time.Minute)
		in := s.newBrowser()
		in.password()
		if a := in.factor("totp", s.code(0)); !a.signsIn() {
			return errors.New("the code is wrong: " + a.location())
		}
		return nil
	}, func(int) error {
		for range 2 {
			if in := plain.newBrowser(); !in.password().signsIn() {
				return errors.New("the password is wrong")
			}
		}
		return nil
	})
}
