package page

import (
	"bytes"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"
)

// tongue is the language of the texts and the direction it is written in.
type tongue struct{ lang, dir string }

var (
	langTag     = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)
	rightToLeft = []string{"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"}
)

func newTongue(lang, dir string) (tongue, error) {
	if lang == "" {
		lang = "en"
	}
	if !langTag.MatchString(lang) {
		return tongue{}, fmt.Errorf("page: Lang: %q is not a BCP 47 tag", lang)
	}
	switch dir {
	case "":
		dir = "ltr"
		primary, _, _ := strings.Cut(strings.ToLower(lang), "-")
		if slices.Contains(rightToLeft, primary) {
			dir = "rtl"
		}
	case "ltr", "rtl":
	default:
		return tongue{}, fmt.Errorf("page: Dir: %q is neither ltr nor rtl", dir)
	}
	return tongue{lang, dir}, nil
}

// pageNames are the templates that are whole pages, and the first part of the
// keys of their texts.
var pageNames = []string{
	"signin", "signedin", "signout", "signedout", "verify", "confirm", "error", "account", "delete", "reauth", "farewell",
}

// prepared is what precedes the changing part of a page, in two pieces: the name
// of the site ends the title between them.
type prepared struct{ title, rest []byte }

type head struct {
	Lang, Dir, Title, Scheme string

	Icon template.URL

	Style   template.HTML // the whole element, because its hash covers every byte inside
	Logo    template.URL
	LogoAlt string
}

// buildHeads prepares what precedes the changing part of each page.
func (r *Renderer) buildHeads(in tongue) (map[string]prepared, error) {
	heads := make(map[string]prepared, len(pageNames))
	for _, name := range pageNames {
		h := head{
			Lang: in.lang, Dir: in.dir, Scheme: r.look.scheme,
			Title:   r.texts.text(name + ".title"),
			Style:   template.HTML("<style>" + r.look.style + "</style>"),
			Icon:    r.look.icon,
			Logo:    r.look.logo,
			LogoAlt: r.look.name,
		}
		if name == "confirm" && r.look.foreign {
			h.Logo = ""
		}
		var buf bytes.Buffer
		if err := r.pages.ExecuteTemplate(&buf, "head.html", h); err != nil {
			return nil, err
		}
		at := bytes.Index(buf.Bytes(), []byte("</title>")) // the first, because texts are escaped
		heads[name] = prepared{buf.Bytes()[:at], buf.Bytes()[at:]}
	}
	return heads, nil
}
