package sitetest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/mailtext"
)

// speaks is the language of a page, and the page's first line of text in it.
func (a *answer) speaks() (language, heading string) {
	_, rest, _ := strings.Cut(a.Body.String(), "<h1>")
	heading, _, _ = strings.Cut(rest, "</h1>")
	_, rest, _ = strings.Cut(a.Body.String(), `<html lang="`)
	language, _, _ = strings.Cut(rest, `"`)
	return language, heading
}

func TestLanguageOfPages(t *testing.T) {
	chosen := func(tag string) func(*latchkey.Config) {
		return func(c *latchkey.Config) {
			c.Texts.Choose = func(context.Context, *latchkey.Request) string { return tag }
		}
	}
	only := func(tags ...string) func(*latchkey.Config) {
		return func(c *latchkey.Config) { c.Texts.Languages = tags }
	}
	for _, row := range []struct {
		name    string
		change  func(*latchkey.Config)
		accept  []string // lines of Accept-Language
		want    string
		heading string
	}{
		{"no header", nil, nil, "en", "Sign in"},
		{"any language", nil, []string{"*"}, "en", "Sign in"},
		{"a language that nobody translated", nil, []string{"tlh"}, "en", "Sign in"},
		{"rubbish", nil, []string{"\xff;;q=,"}, "en", "Sign in"},
		{"what browsers send", nil, []string{"de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7"}, "de", "Anmelden"},
		{"two lines", nil, []string{"en;q=0.1", "de"}, "de", "Anmelden"},
		{"one language", only("de"), []string{"en"}, "de", "Anmelden"},
		{"two languages, none of them asked for", only("de", "en"), []string{"ar"}, "de", "Anmelden"},
		{"two languages, one of them asked for", only("de", "en"), []string{"ar, en"}, "en", "Sign in"},
		{"a variety of a language", only("de-CH"), nil, "de-CH", "Anmelden"},
		{"the site chooses", chosen("de"), []string{"en"}, "de", "Anmelden"},
		{"the site chooses a variety", chosen("de-AT"), []string{"en"}, "de", "Anmelden"},
		{"the site leaves it to the browser", chosen(""), []string{"de"}, "de", "Anmelden"},
		{"the site chooses what there is not", chosen("tlh"), []string{"de"}, "de", "Anmelden"},
		{"the site fails to choose", func(c *latchkey.Config) {
			c.Texts.Choose = func(context.Context, *latchkey.Request) string { panic("no settings") }
		}, []string{"de"}, "de", "Anmelden"},
	} {
		t.Run("R-398 "+row.name, func(t *testing.T) {
			if row.change == nil {
				row.change = func(*latchkey.Config) {}
			}
			b := newSite(t, row.change).newBrowser()
			b.header["Accept-Language"] = row.accept
			a := b.get("/auth/signin")
			if tag, heading := a.speaks(); tag != row.want || heading != row.heading {
				t.Errorf("the page is in %q and says %q, want %q and %q", tag, heading, row.want, row.heading)
			}
		})
	}
}

func TestPagesSayTheirLanguage(t *testing.T) {
	arabic := func(c *latchkey.Config) {
		c.Texts.Choose = func(context.Context, *latchkey.Request) string { return "ar" }
	}
	for name, a := range allPages(t, arabic) {
		t.Run("R-397 "+name, func(t *testing.T) {
			if !strings.Contains(a.Body.String(), `<html lang="ar" dir="rtl">`) {
				t.Errorf("the page is %.60q", a.Body)
			}
			if got := a.Header().Get("Content-Language"); got != "ar" {
				t.Errorf("Content-Language: %q", got)
			}
			if got := a.Header()["Vary"]; !slices.Contains(got, "Accept-Language") {
				t.Errorf("Vary: %q", got)
			}
		})
	}
	t.Run("R-397 there is one language", func(t *testing.T) {
		h := newSite(t, func(c *latchkey.Config) { c.Texts.Languages = []string{"de"} }).newBrowser().get("/auth/signin").Header()
		if slices.Contains(h["Vary"], "Accept-Language") || h.Get("Content-Language") != "de" {
			t.Errorf("Vary %q, Content-Language %q", h["Vary"], h["Content-Language"])
		}
	})
	t.Run("R-397 what a handler around depends on stays", func(t *testing.T) {
		s := newSite(t)
		b := s.newBrowser()
		a := b.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Vary", "Accept-Encoding")
			s.auth.ServeHTTP(w, r)
		}), b.request(http.MethodGet, "/auth/signin", "", ""))
		if got := a.Header()["Vary"]; !slices.Equal(got, []string{"Accept-Encoding", "Accept-Language", "Cookie"}) {
			t.Errorf("Vary: %q", got)
		}
	})
}

func TestLanguageOfMails(t *testing.T) {
	for _, row := range []struct{ name, accept, subject, html string }{
		{"R-398 no header", "", "Sign in to app.example", `<html lang="en" dir="ltr">`},
		{"R-398 the language of who asked", "de-DE, en;q=0.5", "Anmeldung bei app.example", `<html lang="de" dir="ltr">`},
		{"R-397 right to left", "ar", "تسجيل الدخول إلى \u2068app.example\u2069", `<html lang="ar" dir="rtl">`},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newSite(t, stored)
			b := s.newBrowser()
			b.header.Set("Accept-Language", row.accept)
			b.askForLink(adaEmail)
			m, err := mailtext.Compose(s.sent()[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Check(); err != nil {
				t.Error(err)
			}
			if m.Subject != row.subject || !strings.Contains(m.HTML, row.html) {
				t.Errorf("%q\n%.80s", m.Subject, m.HTML)
			}
		})
	}
}

func TestOwnTexts(t *testing.T) {
	danish := map[string]string{"signin.heading": "Log ind", "mail.subject": "Log ind på {host}"}
	change := func(c *latchkey.Config) {
		c.Texts.Languages = []string{"en", "de", "da"}
		c.Texts.Text = func(language, key, text string) string {
			switch {
			case language == "da":
				return danish[key]
			case language == "de" && key == "signin.heading":
				return text + "<b>!"
			}
			return ""
		}
	}
	s := newSite(t, change, stored)
	for accept, want := range map[string]string{"da": "Log ind", "de": "Anmelden&lt;b&gt;!", "en": "Sign in"} {
		b := s.newBrowser()
		b.header.Set("Accept-Language", accept)
		a := b.get("/auth/signin")
		if tag, heading := a.speaks(); tag != accept || heading != want {
			t.Errorf("R-400 in %s the page is in %s and says %q, want %q", accept, tag, heading, want)
		}
	}
	b := s.newBrowser()
	b.header.Set("Accept-Language", "da")
	b.askForLink(adaEmail)
	m, err := mailtext.Compose(s.sent()[0])
	if err != nil || m.Subject != "Log ind på app.example" || !strings.Contains(m.Text, "safely ignore") {
		t.Errorf("R-400 the mail says %q, %v\n%s", m.Subject, err, m.Text)
	}
}

func TestOwnTextsAreChecked(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*latchkey.Texts)
		want   string
	}{
		{"a place that is gone", func(t *latchkey.Texts) {
			t.Text = func(_, key, text string) string { return strings.ReplaceAll(text, "{host}", "us") }
		}, `de: "mail.subject" must hold {host}`},
		{"no tag", func(t *latchkey.Texts) { t.Languages = []string{"en_GB"} }, `"en_GB"`},
		{"a language that nobody translated", func(t *latchkey.Texts) { t.Languages = []string{"tlh"} }, `"tlh" is not built in`},
		{"a language twice", func(t *latchkey.Texts) { t.Languages = []string{"de", "DE"} }, `"DE" stands there twice`},
	} {
		c := latchkey.Config{Site: latchkey.Site{URL: siteOrigin}, Secrets: []string{siteSecret}}
		row.change(&c.Texts)
		if _, err := latchkey.New(c); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("R-400 %s: %v, want %s", row.name, err, row.want)
		}
	}
	t.Run("R-400 the list is the site's to change", func(t *testing.T) {
		languages := []string{"de", "en"}
		s := newSite(t, func(c *latchkey.Config) { c.Texts.Languages = languages })
		slices.Reverse(languages)
		if tag, _ := s.newBrowser().get("/auth/signin").speaks(); tag != "de" {
			t.Errorf("the page is in %q", tag)
		}
	})
}
