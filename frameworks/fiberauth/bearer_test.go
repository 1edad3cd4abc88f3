package fiberauth_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v3"
	"github.com/latchkeyhq/latchkey"
)

// A session that comes as a bearer token is read like any other, and the token
// that takes its place is in the response.
func TestBearer(t *testing.T) {
	auth := newAuth(t, func(c *latchkey.Config) { c.Session.Bearer = true })
	app := fiber.New()
	app.Use(auth.Middleware())
	app.Get("/who", auth.RequireSession(), who(auth))
	app.Post("/update", auth.RequireSession(), func(c fiber.Ctx) error {
		_, err := auth.UpdateSession(c, nil)
		return err
	})
	app.Post("/public-before", auth.RequireSession(), func(c fiber.Ctx) error {
		c.Set("Cache-Control", "public, max-age=60")
		_, err := auth.UpdateSession(c, nil)
		return err
	})
	app.Post("/public-after", auth.RequireSession(), func(c fiber.Ctx) error {
		_, err := auth.UpdateSession(c, nil)
		c.Set("Cache-Control", "public, max-age=60")
		return err
	})
	siteURL := serve(t, app)
	header := http.Header{"Authorization": {"Bearer " + openAs(t, siteURL, "Ada").BearerToken(auth.Auth())}}
	res := ask(t, nil, http.MethodGet, siteURL+"/who", header, "")
	if res.StatusCode != http.StatusOK || len(res.Header["Set-Cookie"]) > 0 || !strings.Contains(strings.Join(res.Header["Vary"], ", "), "Authorization") {
		t.Errorf("status %d, %v", res.StatusCode, res.Header)
	}
	res = ask(t, nil, http.MethodPost, siteURL+"/update", header, "")
	if res.StatusCode != http.StatusOK || res.Header.Get("Session-Token") == "" {
		t.Errorf("status %d, %v", res.StatusCode, res.Header)
	}
	for _, path := range []string{"/public-before", "/public-after"} {
		res := ask(t, nil, http.MethodPost, siteURL+path, header, "")
		if res.Header.Get("Session-Token") == "" || !strings.Contains(strings.Join(res.Header["Cache-Control"], ", "), "no-store") {
			t.Errorf("R-798: %s: a cache may keep a session token: %v", path, res.Header)
		}
	}
	if res := ask(t, nil, http.MethodGet, siteURL+"/who", nil, ""); res.StatusCode == http.StatusOK {
		t.Errorf("nobody: status %d", res.StatusCode)
	}
}
