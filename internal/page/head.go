package page

import (
	"bytes"
	"html/template"

	"github.com/latchkeyhq/latchkey/internal/words"
)

// pageNames are the templates that are whole pages, and the first part of the
// keys of their texts.
var pageNames = []string{
	"signin", "signedin", "signout", "signedout", "verify", "confirm", "error", "account", "delete", "reauth", "farewell", "invite",
	"factor", "enrol", "codes", "remind", "frame",
}

// prepared is the constant first part of a page, in three pieces. The name of the
// site goes between the first two and ends the title. The style, which all pages
// share, goes before the last.
type prepared struct{ title, style, rest []byte }

type head struct {
	Lang, Dir, Title, Scheme string

	Icon template.URL

	Style   template.HTML // the element, still empty; its hash covers every byte inside
	Logo    template.URL
	LogoAlt string
}

const emptyStyle = "<style></style>"

// buildHeads renders into r.heads the first part of each page, which is always the same.
func (r *Renderer) buildHeads() error {
	r.heads = make(map[string]prepared, len(pageNames)+len(passwordSteps))
	titles := map[string]string{"prove": "reauth.title", "lost": "lost.heading", "offer": "offer.heading"}
	for _, name := range pageNames {
		titles[name] = name + ".title"
	}
	secluded := map[string]bool{"confirm": true, "invite": true, "lost": true}
	for _, s := range passwordSteps {
		titles[passwordHead(s)], secluded[passwordHead(s)] = passwordHead(s)+".heading", s.hasSecret()
	}
	for name, title := range titles {
		h := head{
			Lang: r.texts.tag, Dir: words.Direction(r.texts.tag), Scheme: r.look.scheme,
			Title:   r.texts.text(title),
			Style:   emptyStyle,
			Icon:    r.look.icon,
			Logo:    r.look.logo,
			LogoAlt: r.look.name,
		}
		if secluded[name] && r.look.foreign {
			h.Logo = ""
		}
		var buf bytes.Buffer
		if err := r.fill(&buf, "head", h); err != nil {
			return err
		}
		title := bytes.Index(buf.Bytes(), []byte("</title>")) // the first, because texts are escaped
		style := title + bytes.Index(buf.Bytes()[title:], []byte(emptyStyle)) + len("<style>")
		r.heads[name] = prepared{buf.Bytes()[:title], buf.Bytes()[title:style], buf.Bytes()[style:]}
	}
	return nil
}
