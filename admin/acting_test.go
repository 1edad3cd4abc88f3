package admin_test

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/admin"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestFactorOfStaff: P-055, a staff member with a second factor proves it before a
// change, and a staff member without one does not.
func TestFactorOfStaff(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config, _ *admin.Options) {
		c.Factors.Kinds = []latchkey.FactorKind{latchkey.FactorTOTP}
	})
	target := s.user(t, "Ada", "ada@app.example")
	err := s.store.Factors().Create(t.Context(), storage.Factor{ID: "app", UserID: s.staff.ID, Kind: storage.FactorTOTP, Secret: "sealed", Created: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	change := ask{method: "POST", path: "/admin/users/" + target.ID + "/update", form: url.Values{"name": {"X"}}, cookie: s.session(t, s.staff.ID, 0)}
	if w := s.do(t, ask{method: "GET", path: "/admin/users/" + target.ID, cookie: change.cookie}); w.Code != http.StatusOK {
		t.Errorf("P-055 looking: %d", w.Code)
	}
	w := s.do(t, change)
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil || w.Code != http.StatusSeeOther || to.Path != "/auth/reauth" || to.Query().Get("for") != "factor" || to.Query().Get("callbackUrl") != origin+"/admin/users/"+target.ID {
		t.Errorf("P-055 a change without the factor: %d %s", w.Code, to)
	}
	change.form, change.json = nil, `{"name":"X"}`
	if w := s.do(t, change); w.Code != http.StatusUnauthorized || !strings.Contains(w.Header().Get("WWW-Authenticate"), `error="insufficient_user_authentication", acr_values="`) {
		t.Errorf("P-055 JSON: %d %v", w.Code, w.Header())
	}
	old := s.session(t, s.other.ID, time.Hour)
	if w := s.do(t, ask{method: "POST", path: change.path, form: url.Values{"name": {"X"}}, cookie: old}); !strings.Contains(w.Header().Get("Location"), "/auth/reauth?") || strings.Contains(w.Header().Get("Location"), "factor") {
		t.Errorf("P-055 an old proof without a factor: %d %s", w.Code, w.Header().Get("Location"))
	}
	if u, _ := s.store.GetUser(t.Context(), target.ID); u.Name != "Ada" {
		t.Error("P-055 it was changed")
	}
	proven := "proven-by-a-factor"
	err = s.store.CreateSession(t.Context(), storage.StoredSession{
		Token: proven, UserID: s.staff.ID, Created: time.Now(), Proved: time.Now(), Expires: time.Now().Add(time.Hour), AMR: []string{"pwd", "otp", "mfa"}, ACR: "aal2",
	})
	if err != nil {
		t.Fatal(err)
	}
	change.cookie = "__Secure-authjs.session-token=" + proven
	if w := s.do(t, change); w.Code != http.StatusOK {
		t.Errorf("P-055 with the factor: %d %s", w.Code, w.Body)
	}
}

// newActingSite returns a site whose staff may act as users.
func newActingSite(t *testing.T) *site {
	return newSite(t, func(c *latchkey.Config, o *admin.Options) {
		c.Session.ActAs = latchkey.ActAs{Max: time.Hour}
		o.Allow = func(context.Context, admin.Attempt) error { return nil }
	})
}

var actingLink = regexp.MustCompile(`https://app\.example/auth/act-as\?token=[^<"]+`)

// TestActAsButton: the page has a form for acting as a user, and shows the link once.
func TestActAsButton(t *testing.T) {
	s := newActingSite(t)
	target, cookie := s.user(t, "Ada", "ada@app.example"), s.session(t, s.staff.ID, 0)
	at := "/admin/users/" + target.ID
	if w := s.do(t, ask{method: "GET", path: at, cookie: cookie}); !strings.Contains(w.Body.String(), at+`/act-as"`) {
		t.Error("P-043 the page has no form")
	}
	t.Run("P-045 a short reason", func(t *testing.T) {
		w := s.do(t, ask{method: "POST", path: at + "/act-as", form: url.Values{"reason": {"help"}}, cookie: cookie})
		if body := w.Body.String(); w.Code != http.StatusUnprocessableEntity || !strings.Contains(body, "Use 10 to 500 characters.") || !strings.Contains(body, `value="help"`) || actingLink.MatchString(body) {
			t.Errorf("%d: %s", w.Code, body)
		}
	})
	t.Run("P-043 the link", func(t *testing.T) {
		w := s.do(t, ask{method: "POST", path: at + "/act-as", form: url.Values{"reason": {"ticket 4711"}}, cookie: cookie})
		link := html.UnescapeString(actingLink.FindString(w.Body.String()))
		if w.Code != http.StatusOK || link == "" || strings.Contains(w.Body.String(), "ticket 4711") {
			t.Fatalf("%d: %s", w.Code, w.Body)
		}
		if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Location") != "" {
			t.Errorf("headers %v", w.Header())
		}
	})
	t.Run("P-060 as JSON", func(t *testing.T) {
		w := s.do(t, ask{method: "POST", path: at + "/act-as", json: `{"reason":"ticket 4711"}`, cookie: cookie})
		if link, _ := decoded(t, w)["link"].(string); w.Code != http.StatusOK || !actingLink.MatchString(link) {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	})
	t.Run("P-055 a proof of eleven minutes ago", func(t *testing.T) {
		old := s.session(t, s.staff.ID, 11*time.Minute)
		w := s.do(t, ask{method: "POST", path: at + "/act-as", form: url.Values{"reason": {"ticket 4711"}}, cookie: old})
		if w.Code != http.StatusSeeOther || !strings.Contains(w.Header().Get("Location"), "callbackUrl") {
			t.Errorf("%d %s", w.Code, w.Header().Get("Location"))
		}
	})
	for name, id := range map[string]string{"staff": s.other.ID, "oneself": s.staff.ID} {
		t.Run("P-049 "+name, func(t *testing.T) {
			w := s.do(t, ask{method: "POST", path: "/admin/users/" + id + "/act-as", form: url.Values{"reason": {"ticket 4711"}}, cookie: cookie})
			if w.Code != http.StatusForbidden || actingLink.MatchString(w.Body.String()) {
				t.Errorf("%d", w.Code)
			}
		})
	}
	t.Run("P-049 a suspended user", func(t *testing.T) {
		if err := s.store.Suspensions().Put(t.Context(), target.ID, storage.Suspension{Since: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if w := s.do(t, ask{method: "GET", path: at, cookie: cookie}); strings.Contains(w.Body.String(), "act-as") {
			t.Error("the page has the form")
		}
		if w := s.do(t, ask{method: "POST", path: at + "/act-as", json: `{"reason":"ticket 4711"}`, cookie: cookie}); w.Code == http.StatusOK {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	})
}

// TestActAsIsOff: without Options.Allow, or without Session.ActAs, staff cannot act.
func TestActAsIsOff(t *testing.T) {
	for name, change := range map[string]func(*latchkey.Config, *admin.Options){
		"P-049 without Allow": func(c *latchkey.Config, _ *admin.Options) { c.Session.ActAs = latchkey.ActAs{Max: time.Hour} },
		"P-001 without Session.ActAs": func(_ *latchkey.Config, o *admin.Options) {
			o.Allow = func(context.Context, admin.Attempt) error { return nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, change)
			target, cookie := s.user(t, "Ada", "ada@app.example"), s.session(t, s.staff.ID, 0)
			at := "/admin/users/" + target.ID
			if w := s.do(t, ask{method: "GET", path: at, cookie: cookie}); strings.Contains(w.Body.String(), "act-as") {
				t.Error("the page has the form")
			}
			w := s.do(t, ask{method: "POST", path: at + "/act-as", form: url.Values{"reason": {"ticket 4711"}}, cookie: cookie})
			if w.Code != http.StatusForbidden && w.Code != http.StatusNotImplemented || actingLink.MatchString(w.Body.String()) {
				t.Errorf("%d: %s", w.Code, w.Body)
			}
		})
	}
}

// TestInviteAtCreation checks that a user is invited if the box is ticked.
func TestInviteAtCreation(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config, _ *admin.Options) {
		c.Invitations = true
		c.Mail.Send = c.Providers[0].(*latchkey.Email).Send
	})
	cookie := s.session(t, s.staff.ID, 0)
	if w := s.do(t, ask{method: "GET", path: "/admin/users/new", cookie: cookie}); !strings.Contains(w.Body.String(), `name="invite"`) || strings.Contains(w.Body.String(), "No mail is sent") {
		t.Errorf("the form: %s", w.Body)
	}
	for _, row := range []struct {
		email, invite, notice string
		mails                 int
	}{{"one@app.example", "", "created", 0}, {"two@app.example", "true", "invited", 1}} {
		form := url.Values{"email": {row.email}, "name": {"New"}}
		if row.invite != "" {
			form.Set("invite", row.invite)
		}
		w := s.do(t, ask{method: "POST", path: "/admin/users", form: form, cookie: cookie})
		if w.Code != http.StatusSeeOther || !strings.HasSuffix(w.Header().Get("Location"), "?done="+row.notice) || len(s.mails) != row.mails {
			t.Errorf("%s: %d %s, %d mails", row.email, w.Code, w.Header().Get("Location"), len(s.mails))
		}
	}
	if m := s.mails[0]; m.Kind != latchkey.MessageInvitation || m.To != "two@app.example" || len(s.told(event.InvitationMade)) != 1 {
		t.Errorf("%+v", m)
	}
	plain := newSite(t, nil)
	if w := plain.do(t, ask{method: "GET", path: "/admin/users/new", cookie: plain.session(t, plain.staff.ID, 0)}); strings.Contains(w.Body.String(), "invite") {
		t.Error("a site without invitations offers them")
	}
	if w := plain.do(t, ask{method: "POST", path: "/admin/users", json: `{"email":"x@app.example","invite":true}`, cookie: plain.session(t, plain.staff.ID, 0)}); decoded(t, w)["done"] != "uninvited" {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}
