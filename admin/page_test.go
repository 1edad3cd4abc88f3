package admin_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/admin"
)

var labelled = regexp.MustCompile(`<button [^>]*aria-label="([^"]*)"[^>]*>([^<]*)</button>`)

// the name that a button has for screen readers and for voice control holds the
// words that it shows (WCAG 2.2, 2.5.3).
func TestButtonsAreCalledWhatTheySay(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config, o *admin.Options) {
		c.Session.ActAs.Max = time.Hour
	})
	target := s.user(t, "Ada", "ada@app.example")
	w := s.do(t, ask{method: http.MethodGet, path: "/admin/users/" + target.ID, cookie: s.session(t, s.staff.ID, 0)})
	buttons := labelled.FindAllStringSubmatch(w.Body.String(), -1)
	if len(buttons) < 5 {
		t.Fatalf("%d buttons: %s", len(buttons), w.Body)
	}
	for _, b := range buttons {
		if name, says := html.UnescapeString(b[1]), html.UnescapeString(b[2]); !strings.Contains(name, says) {
			t.Errorf("R-795: %q is called %q", says, name)
		}
	}
}

// the time of a suspension that was refused stays in its field, in the form that
// browsers take.
func TestRefusedTimeStays(t *testing.T) {
	s := newSite(t, nil)
	target := s.user(t, "Ada", "ada@app.example")
	w := s.do(t, ask{
		method: http.MethodPost, path: "/admin/users/" + target.ID + "/suspend", cookie: s.session(t, s.staff.ID, 0),
		form: url.Values{"until": {"2001-02-03T04:05"}, "reason": {"why"}},
	})
	found := regexp.MustCompile(`<input type="datetime-local"[^>]* value="([^"]*)"`).FindStringSubmatch(w.Body.String())
	if w.Code != http.StatusUnprocessableEntity || found == nil {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	if at, err := time.Parse("2006-01-02T15:04:05", found[1]); err != nil || !at.Equal(time.Date(2001, 2, 3, 4, 5, 0, 0, time.UTC)) {
		t.Errorf("R-794: the field holds %q", found[1])
	}
}
