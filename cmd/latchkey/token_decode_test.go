package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/jwt"
)

func TestLifeInWords(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		name, payload, want string
		alive               bool
	}{
		{"alive", `{"exp":1800086460}`, "Valid for another 1 day, until 2027-01-16 08:01:00 UTC.", true},
		{"over, but only just", `{"exp":1799999995}`, "Over since 2027-01-15 07:59:55 UTC; accepted a little longer, since clocks differ.", true},
		{"over", `{"exp":1799992800}`, "Expired 2 hours ago, at 2027-01-15 06:00:00 UTC.", false},
		{"without exp", `{"iat":1799992800}`, "Valid for 30 days after its iat: it has no exp.", true},
		{"without exp, old", `{"iat":1700000000}`, "Expired: it has no exp, and its iat is more than 30 days ago.", false},
		{"without times", `{}`, "Not valid: its times (exp, iat, nbf) are missing, no numbers, or in the future.", false},
		{"not yet", `{"exp":1800086460,"nbf":1800080000}`, "Not valid: its times (exp, iat, nbf) are missing, no numbers, or in the future.", false},
		{"for ever", `{"exp":1e15}`, "Valid until after the year 9999.", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			members, err := jsonscan.Members([]byte(c.payload), nil)
			if err != nil {
				t.Fatal(err)
			}
			if words, alive := lifeOf(members, now); words != c.want || alive != c.alive {
				t.Errorf("%q, %t", words, alive)
			}
		})
	}
}

func TestAuthenticTokenWithoutClaims(t *testing.T) {
	const secret = "a-secret-of-more-than-32-characters"
	token, err := jwt.NewCodec([]string{secret}, "authjs.session-token").Seal([]byte("hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"token", "decode"}, strings.NewReader(token), &out, &errs, []string{"AUTH_SECRET=" + secret})
	if code != exitProblem || out.Len() > 0 || errs.String() != "latchkey: the token is authentic, but what it holds is no JSON object\n" {
		t.Errorf("exit code %d, output %q, errors %q", code, out.String(), errs.String())
	}
}

// TestKeysOfStoredSessions: what a store gives out cannot be opened with any secret.
func TestKeysOfStoredSessions(t *testing.T) {
	const said = "latchkey: this is no sealed token: with stored sessions the cookie is a key of the store"
	for text, want := range map[string]bool{
		strings.Repeat("0a", 32):                                    true,
		"5f0c8a4e-1c7d-4c6e-9d3b-0123456789ab":                      true,
		"authjs.session-token=5f0c8a4e-1c7d-4c6e-9d3b-0123456789ab": true,
		"a.b.c.d.e": false,
		"hunter2":   false,
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"token", "decode"}, strings.NewReader(text), &out, &errs, []string{"AUTH_SECRET=a-secret-of-more-than-32-characters"})
		if code != exitProblem || strings.HasPrefix(errs.String(), said) != want {
			t.Errorf("%s: exit code %d, errors %q", text, code, &errs)
		}
	}
}

func TestClaimsThatAreTooLong(t *testing.T) {
	var out, errs bytes.Buffer
	claims := `{"text":"` + strings.Repeat("x", jwt.MaxLen) + `"}`
	code := run(t.Context(), []string{"token", "encode"}, strings.NewReader(claims), &out, &errs, []string{"AUTH_SECRET=a-secret-of-more-than-32-characters"})
	if code != exitProblem || out.Len() > 0 {
		t.Errorf("exit code %d, output of %d bytes, errors %q", code, out.Len(), errs.String())
	}
}
