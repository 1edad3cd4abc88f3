package mailtext

import (
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// english holds every word of the mail. Theme.Text translates them by key; a
// place in braces has to stay.
var english = map[string]string{
	"mail.subject": "Sign in to {host}",
	"mail.action":  "Sign in",
	"mail.expires": "The link works once, until {time}.",
	"mail.ignore":  "If you did not request this email you can safely ignore it.",
}

// words looks texts up in the language of a theme.
type words struct{ theme latchkey.Theme }

// whole is the text of key. A translation that lost its place is passed over,
// because a mail has to say where its link leads.
func (w words) whole(key string) string {
	text := english[key]
	if w.theme.Text == nil {
		return text
	}
	translated := w.theme.Text(key, text)
	if translated == "" || strings.Count(translated, place(text)) == 0 {
		return text
	}
	return translated
}

// place finds the {word} of a text; empty: it has none.
func place(text string) string {
	start := strings.IndexByte(text, '{')
	if start < 0 {
		return ""
	}
	return text[start : strings.IndexByte(text, '}')+1]
}

// with is the text of key with its place filled.
func (w words) with(key, value string) string {
	return strings.ReplaceAll(w.whole(key), place(english[key]), value)
}

// expires is the sentence about the end of a link; empty: it has none. Nobody
// knows the reader's clock or how they write dates, hence ISO 8601 and UTC.
func (w words) expires(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return w.with("mail.expires", t.UTC().Format("2006-01-02 15:04 UTC"))
}

// plain is the mail without HTML. The link stands on a line of its own, so that
// every program finds its ends.
func (w words) plain(l latchkey.SignInLink, host string) string {
	var b strings.Builder
	b.WriteString(oneLine(w.with("mail.subject", host)) + "\n" + l.URL + "\n\n")
	if s := w.expires(l.Expires); s != "" {
		b.WriteString(s + "\n")
	}
	b.WriteString(w.whole("mail.ignore") + "\n")
	return b.String()
}
