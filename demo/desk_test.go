package main

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestDesk(t *testing.T) {
	c := newClient(t)
	wants(t, c.Get("/desk"), 200, "Support desk", "is staff here", suspended().Email)
	c.Complete(c.Begin("demo")) // Ada
	for _, path := range []string{"/admin/users", "/audit"} {
		wants(t, c.Get(path), 404)
	}
	c.SignOut()
	c.SignInCredentials(alicesFields)
	users := c.Get("/admin/users")
	wants(t, users, 200, "crowd-300@example.com", "/admin/users/crowd-300")
	wants(t, c.Get("/admin/users/"+suspended().ID), 200, "shows what a suspended user sees")
	wants(t, c.Get("/audit"), 200, "sign_in", "pwd", "account.linked")
	wants(t, c.Get("/audit?after=changed"), 303)
	wants(t, c.Get("/health"), 200, "ready", "store", "up")
	wants(t, c.Get("/livez"), 200, "live")
	wants(t, c.Get("/readyz"), 200, "ready")
	wants(t, c.Get("/auth/account?do=profile"), 200, "Alice")
}

// TestSuspendedUser signs in as the user whom the desk keeps out.
func TestSuspendedUser(t *testing.T) {
	c := newClient(t)
	askForLink(t, c, suspended().Email)
	refused := c.Get(newestLink(t, c))
	if at := refused.Location(); at == nil || at.Query().Get("code") != "suspended" || c.Session() != nil {
		t.Fatalf("a suspended user is led to %v", at)
	}
	c.SignInCredentials(alicesFields)
	c.Post("/admin/users/"+suspended().ID+"/restore", url.Values{"csrfToken": {c.CSRFToken()}})
	c.SignOut()
	askForLink(t, c, suspended().Email)
	leads(t, c.Get(newestLink(t, c)), "/profile")
}

// TestReferenceCode finds the code of the error page in the audit log.
func TestReferenceCode(t *testing.T) {
	c := newClient(t)
	failed := c.Follow(c.Get("/auth/callback/demo?error=server_error&state=none"))
	code := regexp.MustCompile(`[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}`).FindString(string(failed.Body))
	if code == "" {
		t.Fatalf("the page has no reference code:\n%s", failed.Body)
	}
	c.SignInCredentials(alicesFields)
	for range 50 { // failures are stored after the answer
		if strings.Contains(string(c.Get("/audit").Body), code) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("the audit log has no %s", code)
}

// TestCrowdIsAddedOnce: what staff have changed outlives a restart.
func TestCrowdIsAddedOnce(t *testing.T) {
	data := t.TempDir()
	d := newTestSite(t, environment(t, "DEMO_DATA", data))
	if _, err := d.store.Suspensions().Delete(t.Context(), suspended().ID); err != nil {
		t.Fatal(err)
	}
	again := newTestSite(t, environment(t, "DEMO_DATA", data))
	if u, err := again.store.GetUser(t.Context(), suspended().ID); err != nil || u.Suspension != nil {
		t.Errorf("%+v, %v", u, err)
	}
	if err := os.Remove(filepath.Join(data, "crowd")); err != nil {
		t.Fatal(err)
	}
	newTestSite(t, environment(t, "DEMO_DATA", data)) // another demo was quicker
}
