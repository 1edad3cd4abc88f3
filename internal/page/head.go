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
var pageNames = []string{"signin", "signout", "verify", "confirm", "error", "account", "delete"}

type head struct {
	Lang, Dir, Title, Scheme string

	Style   template.HTML // the whole element, because its hash covers every byte inside
	Logo    template.URL
	LogoAlt string
}

// buildHeads prepares what precedes the changing part of each page.
func (r *Renderer) buildHeads(in tongue) (map[string][]byte, error) {
	heads := make(map[string][]byte, len(pageNames))
	for _, name := range pageNames {
		h := head{
			Lang: in.lang, Dir: in.dir, Scheme: r.look.scheme,
			Title:   r.texts.text(name + ".title"),
			Style:   template.HTML("<style>" + r.look.style + "</style>"),
			Logo:    r.look.logo,
			LogoAlt: r.look.logoAlt,
		}
		if name == "confirm" && r.look.foreign {
			h.Logo = ""
		}
		var buf bytes.Buffer
		if err := r.pages.ExecuteTemplate(&buf, "head.html", h); err != nil {
			return nil, err
		}
		heads[name] = buf.Bytes()
	}
	return heads, nil
}
