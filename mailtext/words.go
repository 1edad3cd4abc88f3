package mailtext

import (
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/words"
)

// wording looks up what a mail says, in the language of a link: the site's own
// texts before those that are built in.
type wording struct {
	tag  string
	text func(language, key, text string) string // nil: the site has none
}

func wordingOf(m latchkey.Message) wording {
	w := wording{m.Language, m.Texts.Text}
	if !words.IsTag(w.tag) {
		w.tag = "en"
	}
	return w
}

// whole returns the text of key. It passes over a translation that lost its
// place for the host, because a mail has to say where its link leads.
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

// with returns the text of key with its place filled.
func (w wording) with(key, value string) string {
	text := w.whole(key)
	for _, place := range words.Places(words.Text("en", key)) {
		text = strings.ReplaceAll(text, place, words.Isolate(w.tag, value))
	}
	return text
}

// expires returns the sentence about the end of a link, or "" if it has none.
// It uses ISO 8601 and UTC: the reader's clock and date format are unknown.
func (w wording) expires(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return w.with("mail.expires", t.UTC().Format("2006-01-02 15:04 UTC"))
}

// plain returns the mail without HTML. The link stands on a line of its own, so
// that every program finds its ends.
func (w wording) plain(m latchkey.Message, host string) string {
	var b strings.Builder
	b.WriteString(oneLine(w.with("mail.subject", host)) + "\n" + m.URL + "\n\n")
	if s := w.expires(m.Expires); s != "" {
		b.WriteString(s + "\n")
	}
	b.WriteString(w.whole("mail.ignore") + "\n")
	return b.String()
}
