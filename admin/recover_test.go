package admin_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/admin"
)

// movesAddresses lets users change their addresses.
func movesAddresses(c *latchkey.Config, _ *admin.Options) {
	c.AccountPage.Edit = latchkey.EditEmail
}

// staff replaces the address of a user who has lost the mailbox, by form and by JSON.
func TestRecover(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config, o *admin.Options) {
		movesAddresses(c, o)
		o.Allow = func(context.Context, admin.Attempt) error { return nil }
	})
	cookie := s.session(t, s.staff.ID, 0)
	target, other := s.user(t, "Ada", "ada@app.example"), s.user(t, "Bob", "bob@app.example")
	at := "/admin/users/" + target.ID
	if w := s.do(t, ask{method: "GET", path: at, cookie: cookie}); !strings.Contains(w.Body.String(), at+`/recover"`) {
		t.Error("R-754 the page has no form")
	}
	w := s.do(t, ask{method: "POST", path: at + "/recover", form: url.Values{"email": {"bob@app.example"}}, cookie: cookie})
	if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), `value="bob@app.example"`) {
		t.Errorf("R-754 a taken address: %d", w.Code)
	}
	w = s.do(t, ask{method: "POST", path: at + "/recover", form: url.Values{"email": {"new@app.example"}}, cookie: cookie, foreign: true})
	if w.Code == http.StatusSeeOther || len(s.mails) > 0 {
		t.Errorf("R-754 from elsewhere: %d, %d mails", w.Code, len(s.mails))
	}
	w = s.do(t, ask{method: "POST", path: at + "/recover", form: url.Values{"email": {"new@app.example"}}, cookie: cookie})
	if w.Code != http.StatusSeeOther || !strings.Contains(w.Header().Get("Location"), "done=recovering") || len(s.mails) != 2 {
		t.Errorf("R-754 by form: %d to %s, %d mails", w.Code, w.Header().Get("Location"), len(s.mails))
	}
	w = s.do(t, ask{method: "POST", path: "/admin/users/" + other.ID + "/recover", json: `{"email":"next@app.example"}`, cookie: cookie})
	if w.Code != http.StatusOK || len(s.mails) != 4 {
		t.Errorf("R-754 by JSON: %d %s, %d mails", w.Code, w.Body, len(s.mails))
	}
	for _, id := range []string{s.other.ID, s.staff.ID} {
		if w := s.do(t, ask{method: "POST", path: "/admin/users/" + id + "/recover", json: `{"email":"third@app.example"}`, cookie: cookie}); w.Code != http.StatusForbidden {
			t.Errorf("R-754 staff: %d", w.Code)
		}
	}
}

// without Options.Allow the page has no form, and the request is refused.
func TestRecoverIsOff(t *testing.T) {
	s := newSite(t, movesAddresses)
	target, cookie := s.user(t, "Ada", "ada@app.example"), s.session(t, s.staff.ID, 0)
	at := "/admin/users/" + target.ID
	if w := s.do(t, ask{method: "GET", path: at, cookie: cookie}); strings.Contains(w.Body.String(), "/recover") {
		t.Error("R-754 the page has the form")
	}
	if w := s.do(t, ask{method: "POST", path: at + "/recover", form: url.Values{"email": {"new@app.example"}}, cookie: cookie}); w.Code != http.StatusForbidden || len(s.mails) > 0 {
		t.Errorf("R-754 %d", w.Code)
	}
}
