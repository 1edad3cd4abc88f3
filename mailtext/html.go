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

// view is what the document shows.
type view struct {
	Lang, Dir, Title, URL string
	Before, After         string   // the title around Host
	Host                  []string // cut before each dot
	Action, Copy          string
	Expires, Ignored      string
	Look                  look
}

func (w wording) html(m latchkey.Message, host string) (string, error) {
	title := w.whole("mail.subject")
	before, after, _ := strings.Cut(title, "{host}")
	v := view{
		Lang:    w.tag,
		Dir:     words.Direction(w.tag),
		Title:   oneLine(w.with("mail.subject", host)),
		URL:     m.URL,
		Before:  before,
		After:   strings.ReplaceAll(after, "{host}", host),
		Host:    strings.Split(host, "."),
		Action:  w.whole("mail.action"),
		Copy:    w.whole("mail.copy"),
		Expires: w.expires(m.Expires),
		Ignored: w.whole("mail.ignore"),
		Look:    newLook(m.Theme),
	}
	var b strings.Builder
	if err := document.Execute(&b, v); err != nil {
		return "", err
	}
	return b.String(), nil
}
