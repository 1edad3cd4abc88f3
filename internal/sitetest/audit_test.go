package sitetest

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// audited is a site with an audit log, whose lines are written at once.
func audited(t *testing.T, change ...func(*latchkey.Config)) (*testSite, *logBuffer) {
	t.Helper()
	lines := &logBuffer{}
	return newSite(t, append([]func(*latchkey.Config){func(c *latchkey.Config) {
		c.Operations.Audit.Logger = lines.logger()
		c.Runtime.Background = func(f func(context.Context)) { f(context.Background()) }
	}}, change...)...), lines
}

func TestAuditLog(t *testing.T) {
	s, log := audited(t)
	b := s.newBrowser()
	b.header.Set("User-Agent", "agent\u202ewith <markup>")
	b.header.Set("X-Forwarded-For", "198.51.100.66")
	b.post("/auth/callback/crew", "username", "canary-name", "password", "canary-password")
	code, _ := s.lastFailure()
	b.signIn()
	b.post("/auth/signout")
	var types []string
	rows := log.records(t)
	for _, r := range rows {
		types = append(types, r["type"].(string)+" "+r["outcome"].(string))
	}
	t.Run("O-023 a line for each event, at once with Background (O-040)", func(t *testing.T) {
		if got := strings.Join(types, ", "); !strings.HasPrefix(got, "sign_in failure, ") || !strings.Contains(got, "sign_in success") || !strings.HasSuffix(got, "session.ended success") {
			t.Fatalf("%s", got)
		}
	})
	t.Run("O-057 a failure has the detail and the code of the log", func(t *testing.T) {
		if r := rows[0]; r["detail"] != "signin.wrong" || r["reference"] != code || code == "" || r["reason"] != "CredentialsSignin" || r["by"] != "visitor" {
			t.Errorf("%v, want the code %s", r, code)
		}
	})
	t.Run("O-025 nothing that was typed, and no claimed address", func(t *testing.T) {
		for _, canary := range []string{"canary", "alice@", "wonderland", "198.51.100.66", siteSecret} {
			if strings.Contains(log.text(), canary) {
				t.Errorf("the log has %q", canary)
			}
		}
		if rows[0]["client"] != "192.0.2.7" {
			t.Errorf("O-029 the client is %v", rows[0]["client"])
		}
	})
}

func TestAuditOfFaults(t *testing.T) {
	s, log := audited(t, func(c *latchkey.Config) {
		c.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error { panic("here") }
	})
	s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "wonderland")
	b := s.newBrowser()
	r := b.request(http.MethodPost, "/auth/callback/crew", formContentType, "username=alice")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	b.serve(s.auth, r)
	found := map[string]string{}
	for _, r := range log.records(t) {
		detail, _ := r["detail"].(string)
		found[r["type"].(string)] = detail
	}
	if found["fault"] != "callback.panic" || found["request.refused"] != "csrf.other_site" {
		t.Errorf("O-023 %v", found)
	}
}

func TestAuditOff(t *testing.T) {
	s := newSite(t)
	s.newBrowser().signIn()
	if strings.Contains(s.log.text(), "latchkey: audit") {
		t.Error("O-001 the audit log is on")
	}
}
