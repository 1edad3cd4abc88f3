package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestVariablesThatNobodyReads(t *testing.T) {
	for _, c := range []struct{ name, env, want string }{
		{"two letters swapped", "AUTH_SERCET=x", "WARN  AUTH_SERCET: is not read. If AUTH_SECRET is meant, rename it\n"},
		{"a letter missing", "AUTH_TRUS_HOST=1", "WARN  AUTH_TRUS_HOST: is not read. If AUTH_TRUST_HOST is meant, rename it\n"},
		{"of a provider", "AUTH_GITHUB_SERCET=x", "WARN  AUTH_GITHUB_SERCET: is not read. If AUTH_GITHUB_SECRET is meant, rename it\n"},
		{"as others call it", "AUTH_GITHUB_CLIENT_ID=x", "WARN  AUTH_GITHUB_CLIENT_ID: is not read. If AUTH_GITHUB_ID is meant, rename it\n"},
		{"the former name", "NEXTAUTH_SECERT=x", "WARN  NEXTAUTH_SECERT: is not read. If NEXTAUTH_SECRET is meant, rename it\n"},
		{"a provider's own", "AUTH_OWN_LOGIN_ID=x", ""},
		{"an application's own", "AUTH_COLOUR=red", ""},
		{"nothing like ours", "PATH=/bin", ""},
	} {
		t.Run("R-329 "+c.name, func(t *testing.T) {
			if got := namesFound(c.env); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	t.Run("R-329 two URLs that differ", func(t *testing.T) {
		want := "WARN  NEXTAUTH_URL: is not read, because AUTH_URL is set, and says something else. Remove it\n"
		if got := namesFound("AUTH_URL=https://a.example", "NEXTAUTH_URL=https://b.example"); got != want {
			t.Errorf("got %q", got)
		}
		if got := namesFound("AUTH_URL=https://a.example", "NEXTAUTH_URL=https://a.example"); got != "" {
			t.Errorf("the same twice: %q", got)
		}
	})
}

func TestTrustWithoutURL(t *testing.T) {
	var out bytes.Buffer
	newDoctor(&program{env: []string{"AUTH_TRUST_HOST=true"}}, &out, nil).checkSiteURL()
	if got := out.String(); !strings.HasPrefix(got, "OK    AUTH_TRUST_HOST") || !strings.Contains(got, "providers get redirect URIs with http") || !strings.Contains(got, "doctor --site") {
		t.Errorf("R-791 %s", got)
	}
}

// AUTH_SECRET_1 stands before AUTH_SECRET, and alone it seals.
func TestDoctorOnARotatedSecretAlone(t *testing.T) {
	var out bytes.Buffer
	newDoctor(&program{env: []string{"AUTH_SECRET_1=q4fRz8v1YpXw0sLm7tKc3hNb6jUd9gEa"}}, &out, nil).checkSecrets()
	if got := out.String(); !strings.HasPrefix(got, "OK    AUTH_SECRET_1") || !strings.Contains(got, "seals what is new") || strings.Count(got, "AUTH_SECRET") != 1 {
		t.Errorf("%s", got)
	}
}

func namesFound(env ...string) string {
	var out bytes.Buffer
	newDoctor(&program{env: env}, &out, nil).checkNames()
	return out.String()
}
