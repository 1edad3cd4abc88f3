package page

import (
	"bytes"
	"html/template"

	"github.com/latchkeyhq/latchkey/internal/words"
)

// prepared is the first part of a page, which is always the same, in three pieces. The
// title goes between the first two. The style, which all pages share, goes before the
// last.
type prepared struct{ title, style, rest []byte }

type head struct {
	Lang, Dir, Scheme string

	Icon template.URL

	Style   template.HTML // the element, still empty; its hash covers every byte inside
	Logo    template.URL
	LogoAlt string
}

const emptyStyle = "<style></style>"

// prepare renders the first part of the pages. A secluded page does not show a logo of
// another site.
func (r *Renderer) prepare(secluded bool) (prepared, error) {
	h := head{
		Lang: r.texts.tag, Dir: words.Direction(r.texts.tag), Scheme: r.look.scheme,
		Style:   emptyStyle,
		Icon:    r.look.icon,
		Logo:    r.look.logo,
		LogoAlt: r.look.name,
	}
	if secluded && r.look.foreign {
		h.Logo = ""
	}
	var buf bytes.Buffer
	if err := r.fill(&buf, "head", h); err != nil {
		return prepared{}, err
	}
	title := bytes.Index(buf.Bytes(), []byte("</title>")) // the first, because texts are escaped
	style := title + bytes.Index(buf.Bytes()[title:], []byte(emptyStyle)) + len("<style>")
	return prepared{buf.Bytes()[:title], buf.Bytes()[title:style], buf.Bytes()[style:]}, nil
}

// titleKey returns the key of the title of the page called name.
func titleKey(name string) string {
	switch name {
	case "prove":
		return "reauth.title"
	case "lost", "offer":
		return name + ".heading"
	}
	return name + ".title"
}
