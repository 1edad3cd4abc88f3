package mailtext

import (
	_ "embed"
	"html/template"
	"strings"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/words"
)

//go:embed mail.html
var source string

// document is parsed once and executed concurrently.
var document = template.Must(template.New("mail").Parse(source))

// view is the data that document is executed with.
type view struct {
	Lang, Dir, Title, URL string
	Before, After         string   // the title around Host
	Host                  []string // cut before each dot
	Lead                  string
	Action, Copy          string // empty: there is no link
	Other, OtherURL       string
	Above, Code, Warn     string
	Expires, Foot         string
	Look                  look
}

// html returns the mail as an HTML document.
func (w wording) html(s shape, m latchkey.Message, host string) (string, error) {
	before, after, _ := strings.Cut(w.whole(s.subject), "{host}")
	v := view{
		Lang:   w.tag,
		Dir:    words.Direction(w.tag),
		Title:  oneLine(w.with(s.subject, host)),
		Before: before,
		After:  strings.ReplaceAll(after, "{host}", host),
		Host:   strings.Split(host, "."),
		Lead:   w.lead(s, m),
		Foot:   w.optional(s.foot),
		Look:   newLook(m.Theme),
	}
	if s.action != "" {
		v.URL, v.Action, v.Copy = m.URL, w.whole(s.action), w.whole("mail.copy")
	}
	if s.other != "" && m.OtherURL != "" {
		v.Other, v.OtherURL = w.whole(s.other), m.OtherURL
	}
	if v.Above = w.above(s, m); v.Above != "" {
		v.Code, v.Warn = spaced(m.Code), w.whole("mail.code.warn")
	}
	if s.once {
		v.Expires = w.expires(m.Expires)
	}
	var b strings.Builder
	if err := document.Execute(&b, v); err != nil {
		return "", err
	}
	return b.String(), nil
}
