package mailtext

import (
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/words"
)

// wording looks up what a mail says, in the language of a message: the site's own
// texts before those that are built in.
type wording struct {
	tag  string
	text func(language, key, text string) string // nil: the site has none
}

// wordingOf returns the wording for a message, in English if its language is malformed.
func wordingOf(m latchkey.Message) wording {
	w := wording{m.Language, m.Texts.Text}
	if !words.IsTag(w.tag) {
		w.tag = "en"
	}
	return w
}

// whole returns the site's own text of key. It returns the built-in text of the
// language if the site has none, or if the site's text does not hold each place, such
// as {host}, exactly once: a mail has to say where its link leads.
func (w wording) whole(key string) string {
	text := words.Text(w.tag, key)
	if w.text == nil {
		return text
	}
	if own := w.text(w.tag, key, text); own != "" && words.Check(key, own) == nil {
		return own
	}
	return text
}

// with returns the text of key with value in place of its placeholder, such as {host}.
// key names a text with one placeholder at most: value fills all there are. In a
// language from right to left, value is isolated, see words.Isolate. For an unknown key
// with returns "".
func (w wording) with(key, value string) string {
	text := w.whole(key)
	for _, place := range words.Places(words.Text("en", key)) {
		text = strings.ReplaceAll(text, place, words.Isolate(w.tag, value))
	}
	return text
}

// expires returns the sentence about the end of a link, or "" for the zero time.
// It uses ISO 8601 and UTC: the reader's clock and date format are unknown.
func (w wording) expires(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return w.with("mail.expires", stamp(t))
}

// stamp returns t in UTC for a reader, to the minute: 2006-01-02 15:04 UTC.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// plain returns the mail without HTML. Each link and the code stand on lines of their
// own, so that every program finds their ends.
func (w wording) plain(s shape, m latchkey.Message, host string) string {
	var b strings.Builder
	b.WriteString(oneLine(w.with(s.subject, host)) + "\n")
	if s.action != "" {
		b.WriteString(m.URL + "\n")
	}
	b.WriteString("\n")
	if lead := w.lead(s, m); lead != "" {
		b.WriteString(lead + "\n\n")
	}
	if s.other != "" && m.OtherURL != "" {
		b.WriteString(w.whole(s.other) + "\n" + m.OtherURL + "\n\n")
	}
	if above := w.above(s, m); above != "" {
		b.WriteString(above + "\n" + spaced(m.Code) + "\n" + w.whole("mail.code.warn") + "\n\n")
	}
	if s.once && !m.Expires.IsZero() {
		b.WriteString(w.expires(m.Expires) + "\n")
	}
	if foot := w.optional(s.foot); foot != "" {
		b.WriteString(foot + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
