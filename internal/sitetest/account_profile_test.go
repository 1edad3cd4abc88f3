package sitetest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/users"
)

// own switches on everything that users see and change of themselves.
func own(c *latchkey.Config) {
	c.AccountPage = latchkey.AccountPage{Enabled: true, Edit: latchkey.EditName | latchkey.EditImage, Activity: true, Export: true}
}

// eachOwn runs a test for both strategies, with a site where Ann is signed in.
func eachOwn(t *testing.T, f func(t *testing.T, s *managedSite, ann *browser, id string), change ...func(*latchkey.Config)) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy, append([]func(*latchkey.Config){own}, change...)...)
		u := s.addUser(annMail, annsPass)
		b := s.newBrowser()
		b.header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0")
		if !b.tries(annMail, annsPass).signsIn() {
			t.Fatal(s.log.text())
		}
		f(t, s, b, u.ID)
	})
}

func TestOwnProfile(t *testing.T) {
	eachOwn(t, func(t *testing.T, s *managedSite, ann *browser, id string) {
		before := sessionOf(t, s, ann)
		s.clock.Advance(time.Minute)
		t.Run("P-037 the form", func(t *testing.T) {
			for target, want := range map[string]string{"/auth/account": "do=profile", "/auth/account?do=profile": `name="was-image"`} {
				if a := ann.get(target); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), want) {
					t.Errorf("%s: %d without %s", target, a.Code, want)
				}
			}
		})
		t.Run("P-037 the session says it at once", func(t *testing.T) {
			a := ann.post("/auth/account?do=profile", "name", " Ann Lee ", "was-name", "", "image", "https://p.example/a.png", "was-image", "")
			if !strings.HasSuffix(a.location(), "/auth/account") {
				t.Fatalf("%d to %q: %s", a.Code, a.location(), s.log.text())
			}
			var shown struct {
				User struct{ Name, Email, Image string }
			}
			if err := json.Unmarshal([]byte(ann.session()), &shown); err != nil || shown.User.Name != "Ann Lee" || shown.User.Image != "https://p.example/a.png" || shown.User.Email != annMail {
				t.Errorf("%s, %v", ann.session(), err)
			}
			if after := sessionOf(t, s, ann); after.ID != before.ID || !after.AuthTime.Equal(before.AuthTime) || !after.Proved.Equal(before.Proved) {
				t.Errorf("the session was %+v, and is %+v", before, after)
			}
			if !strings.Contains(ann.get("/auth/account").Body.String(), "Your profile has been saved") {
				t.Error("the account page says nothing")
			}
		})
		t.Run("P-037 two editors of different fields", func(t *testing.T) {
			image := "https://p.example/by-support.png"
			if _, err := s.auth.Users().Update(t.Context(), id, users.Change{Image: &image}); err != nil {
				t.Fatal(err)
			}
			ann.post("/auth/account?do=profile", "name", "Ann L.", "was-name", "Ann Lee", "image", "https://p.example/a.png", "was-image", "https://p.example/a.png")
			if u, err := s.store.GetUser(t.Context(), id); err != nil || u.Name != "Ann L." || u.Image != image {
				t.Errorf("%+v, %v", u, err)
			}
		})
		t.Run("P-037 an empty field is none", func(t *testing.T) {
			ann.post("/auth/account?do=profile", "name", "", "was-name", "Ann L.")
			if u, err := s.store.GetUser(t.Context(), id); err != nil || u.Name != "" || u.Image == "" || strings.Contains(ann.session(), "Ann L.") {
				t.Errorf("%+v, %v, %s", u, err, ann.session())
			}
		})
	})
}

// sessionOf returns the session of a browser as guards see it.
func sessionOf(t *testing.T, s *managedSite, b *browser) *latchkey.Session {
	t.Helper()
	var found *latchkey.Session
	b.serve(s.auth.LoadSession(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { found = latchkey.SessionFrom(r.Context()) })), b.request("GET", "/", "", ""))
	if found == nil {
		t.Fatal("no session")
	}
	return found
}

func TestOwnProfileRefused(t *testing.T) {
	eachOwn(t, func(t *testing.T, s *managedSite, ann *browser, id string) {
		for name, fields := range map[string][2]string{
			"P-036 markup is inert":        {"name", "<script>alert(1)</script>"},
			"P-036 a change of direction":  {"name", "Ann\u202eeel"},
			"P-036 three hundred letters":  {"name", strings.Repeat("a", 300)},
			"P-036 a NUL":                  {"name", "a\x00b"},
			"P-036 a script as a picture":  {"image", "javascript:alert(1)"},
			"P-036 a picture with a user":  {"image", "https://ada:pw@p.example/a.png"},
			"P-036 a picture without host": {"image", "https:///a.png"},
		} {
			t.Run(name, func(t *testing.T) {
				s.clock.Advance(time.Second)
				if _, err := s.auth.Users().Update(t.Context(), id, users.Change{Name: new(""), Image: new("")}); err != nil {
					t.Fatal(err)
				}
				a := ann.post("/auth/account?do=profile", "name", "Ann", "was-name", "", fields[0], fields[1])
				u, err := s.store.GetUser(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				if name == "P-036 markup is inert" {
					if body := ann.get("/auth/account").Body.String(); u.Name != fields[1] || strings.Contains(body, fields[1]) {
						t.Errorf("P-036 %q, %s", u.Name, body)
					}
					return
				}
				if a.Code != http.StatusUnprocessableEntity || u.Name != "" || u.Image != "" || !strings.Contains(a.Body.String(), "<title>Not saved: Profile") {
					t.Errorf("%d, the user is %+v", a.Code, u)
				}
				if a := ann.post("/auth/account?do=profile", "name", strings.Repeat("a", 10_000), "was-name", ""); a.Code != http.StatusBadRequest {
					t.Errorf("ten thousand letters: %d", a.Code)
				}
				if fields[0] == "image" && !strings.Contains(a.Body.String(), `value="Ann"`) {
					t.Error("what was typed beside it is lost")
				}
			})
		}
		t.Run("P-053 without a token, cross-site, as GET", func(t *testing.T) {
			for _, target := range []string{"/auth/account?do=profile", "/auth/account?do=export"} {
				if a := ann.do("POST", target, "application/x-www-form-urlencoded", "name=Eve"); a.signsIn() || a.Code == http.StatusOK || a.Header().Get("Content-Disposition") != "" {
					t.Errorf("%s without a token: %d", target, a.Code)
				}
				if a := ann.get(target + "&name=Eve&was-name="); a.Header().Get("Content-Disposition") != "" {
					t.Errorf("%s by GET gives a file", target)
				}
			}
			if u, err := s.store.GetUser(t.Context(), id); err != nil || u.Name == "Eve" {
				t.Errorf("%+v, %v", u, err)
			}
		})
	})
}

func TestOwnPagesAreOff(t *testing.T) {
	eachOwn(t, func(t *testing.T, _ *managedSite, ann *browser, _ string) {
		body := ann.get("/auth/account").Body.String()
		for _, do := range []string{"profile", "activity", "export"} {
			if strings.Contains(body, "do="+do) {
				t.Errorf("P-001 the account page leads to %s", do)
			}
			if a := ann.post("/auth/account?do=" + do); a.Code == http.StatusOK || a.Header().Get("Content-Disposition") != "" {
				t.Errorf("P-001 %s by POST: %d", do, a.Code)
			}
			if a := ann.get("/auth/account?do=" + do); a.Body.String() != body && !strings.Contains(a.Body.String(), "Your account") {
				t.Errorf("P-001 %s by GET: %d", do, a.Code)
			}
		}
	}, func(c *latchkey.Config) { c.AccountPage = latchkey.AccountPage{Enabled: true} })
	t.Run("one field alone", func(t *testing.T) {
		eachOwn(t, func(t *testing.T, s *managedSite, ann *browser, id string) {
			ann.post("/auth/account?do=profile", "name", "Ann", "was-name", "", "image", "https://p.example/a.png", "was-image", "")
			if u, err := s.store.GetUser(t.Context(), id); err != nil || u.Name != "Ann" || u.Image != "" {
				t.Errorf("P-031 %+v, %v", u, err)
			}
		}, func(c *latchkey.Config) { c.AccountPage.Edit = latchkey.EditName })
	})
}

func TestOwnActivity(t *testing.T) {
	eachOwn(t, func(t *testing.T, s *managedSite, ann *browser, id string) {
		s.clock.Advance(time.Minute)
		name := "Ann Boleyn"
		asSupport := event.WithActor(t.Context(), event.Actor{Kind: event.ActorAdmin, ID: "boss"})
		if _, err := s.auth.Users().Update(asSupport, id, users.Change{Name: &name}); err != nil {
			t.Fatal(err)
		}
		for _, target := range []string{"/auth/account", "/auth/account?do=activity"} {
			a := ann.get(target)
			for _, want := range []string{"Recent activity", "Signed in", "Firefox on Linux", "Profile changed", "Support", "Password", s.clock.Now().Add(-time.Minute).UTC().Format(time.RFC3339)} {
				if !strings.Contains(a.Body.String(), want) {
					t.Errorf("%s has no %q: %s", target, want, a.Body.String())
				}
			}
			if strings.Contains(a.Body.String(), "boss") || strings.Contains(a.Body.String(), "192.0.2.") {
				t.Errorf("%s names an administrator, or a client", target)
			}
		}
		s.clock.Advance(91 * 24 * time.Hour)
		other := s.newBrowser()
		other.tries(annMail, annsPass)
		if body := other.get("/auth/account?do=activity").Body.String(); strings.Contains(body, "Profile changed") {
			t.Error("an activity is shown after 90 days")
		}
	})
}

func TestOwnExport(t *testing.T) {
	eachOwn(t, func(t *testing.T, s *managedSite, ann *browser, id string) {
		if a := ann.get("/auth/account?do=export"); a.Code != http.StatusOK || a.Header().Get("Content-Disposition") != "" || !strings.Contains(a.Body.String(), "Download") {
			t.Fatalf("the page: %d", a.Code)
		}
		a := ann.post("/auth/account?do=export")
		var doc map[string]any
		if err := json.Unmarshal(a.Body.Bytes(), &doc); err != nil || doc["version"] != 1.0 || doc["user"].(map[string]any)["id"] != id {
			t.Fatalf("%d %v: %s", a.Code, err, a.Body)
		}
		if h := a.Header(); h.Get("Content-Disposition") != `attachment; filename="account.json"` || !strings.Contains(h.Get("Cache-Control"), "no-store") || h.Get("Content-Type") != "application/json" {
			t.Errorf("headers %v", h)
		}
		t.Run("P-040 the sixth of a day", func(t *testing.T) {
			for range 4 {
				ann.post("/auth/account?do=export")
			}
			if a := ann.post("/auth/account?do=export"); a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") == "" || a.Header().Get("Content-Disposition") != "" {
				t.Errorf("%d %v", a.Code, a.Header())
			}
		})
		t.Run("P-040 an old proof", func(t *testing.T) {
			s.clock.Advance(25 * time.Hour)
			a := ann.post("/auth/account?do=export")
			if !strings.Contains(a.location(), "/auth/reauth") || a.Header().Get("Content-Disposition") != "" {
				t.Fatalf("%d to %q", a.Code, a.location())
			}
			back := ann.post(uriOf(t, a.location()), "use", "password", "password", annsPass)
			if !strings.HasSuffix(back.location(), "/auth/account?do=export") {
				t.Fatalf("%d to %q", back.Code, back.location())
			}
			if a := ann.post("/auth/account?do=export"); a.Code != http.StatusOK || a.Header().Get("Content-Disposition") == "" {
				t.Errorf("after the proof: %d", a.Code)
			}
		})
		t.Run("P-040 by another site", func(t *testing.T) {
			ann.header.Set("Sec-Fetch-Site", "cross-site")
			defer ann.header.Del("Sec-Fetch-Site")
			if a := ann.do("POST", "/auth/account?do=export", "application/x-www-form-urlencoded", "csrfToken=x"); a.Code == http.StatusOK || a.Header().Get("Content-Disposition") != "" {
				t.Errorf("%d", a.Code)
			}
		})
	})
}

func uriOf(t *testing.T, location string) string {
	t.Helper()
	u, err := url.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	return u.RequestURI()
}

func TestActingOnOwnPages(t *testing.T) {
	for name, strategy := range strategies {
		t.Run("P-040, P-046 "+name, func(t *testing.T) {
			s := newActingSite(t, strategy, own)
			b := s.acts(t)
			before, err := s.store.GetUser(t.Context(), s.adaID)
			if err != nil {
				t.Fatal(err)
			}
			for target, fields := range map[string][]string{
				"/auth/account?do=export":  nil,
				"/auth/account?do=profile": {"name", "Eve", "was-name", before.Name},
			} {
				if a := b.post(target, fields...); a.Header().Get("Content-Disposition") != "" || a.error() != "AccessDenied" && a.Code != http.StatusForbidden {
					t.Errorf("%s: %d to %q", target, a.Code, a.location())
				}
			}
			if after, err := s.store.GetUser(t.Context(), s.adaID); err != nil || after.Name != before.Name {
				t.Errorf("%+v, %v", after, err)
			}
			if body := s.ada.get("/auth/account?do=activity").Body.String(); !strings.Contains(body, "Your account opened by support") {
				t.Errorf("P-050 the user is not told: %s", body)
			}
		})
	}
}

// P-037: a user and an administrator who write different fields at once both win.
func TestConcurrentEditors(t *testing.T) {
	eachOwn(t, func(t *testing.T, s *managedSite, ann *browser, id string) {
		for range race.Rounds(t) {
			if _, err := s.auth.Users().Update(t.Context(), id, users.Change{Name: new(""), Image: new("")}); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				_, err := s.auth.Users().Update(t.Context(), id, users.Change{Image: new("https://p.example/b.png")})
				done <- err
			}()
			ann.post("/auth/account?do=profile", "name", "Ann", "was-name", "", "image", "", "was-image", "")
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if u, err := s.store.GetUser(t.Context(), id); err != nil || u.Name != "Ann" || u.Image != "https://p.example/b.png" {
				t.Fatalf("P-037 %+v, %v", u, err)
			}
		}
	})
}
