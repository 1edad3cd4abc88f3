// Package page renders the built-in pages: sign-in, sign-out, error,
// verify-request, the confirmation of a magic link, and the account settings.
//
// A page is a function of a view struct and nothing else. Templates know no
// request, so nothing a browser sends can decide more than which fixed text is
// shown. No page needs a script, carries a style attribute or loads anything
// from elsewhere, except the operator's own logo.
package page

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"sync"
)

//go:embed templates/*.html
var templates embed.FS

// Options is what the operator chooses, once. The zero value is a complete
// English page that follows the browser's colour scheme.
type Options struct {
	Theme Theme

	// Strings replaces texts by key, for a translation or another tone. Keys
	// that are absent stay English; see [English] for all of them.
	Strings Strings

	Lang string // BCP 47 tag of the texts; empty: en
	Dir  string // ltr or rtl; empty: what Lang is written in
}

// Renderer renders the pages of one configuration. It never changes after
// [New] and may be used by many goroutines at once.
type Renderer struct {
	look    look
	texts   texts
	heads   map[string]prepared // up to the heading, by template name
	pages   *template.Template
	buffers sync.Pool // of *bytes.Buffer, so that a page costs one allocation for its bytes
}

// New checks the options, parses the templates and prepares the parts that are
// the same on every request. The error names each field that is at fault.
func New(o Options) (*Renderer, error) {
	look, lookErr := newLook(o.Theme)
	texts, textErr := newTexts(o.Strings)
	tongue, langErr := newTongue(o.Lang, o.Dir)
	if err := errors.Join(lookErr, textErr, langErr); err != nil {
		return nil, err
	}
	r := &Renderer{look: look, texts: texts}
	r.buffers.New = func() any { return new(bytes.Buffer) }
	pages, err := template.New("page").Funcs(r.funcs()).ParseFS(templates, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("page: templates: %w", err)
	}
	r.pages = pages
	if r.heads, err = r.buildHeads(tongue); err != nil {
		return nil, fmt.Errorf("page: head: %w", err)
	}
	return r, nil
}

// funcs are the words templates speak besides those of html/template.
func (r *Renderer) funcs() template.FuncMap {
	return template.FuncMap{
		"text":    r.texts.text,
		"before":  r.texts.before,
		"after":   r.texts.after,
		"mark":    mark,
		"moment":  moment,
		"instant": instant,
		"clock":   clock,
		"message": func(key string) message { return message{Key: key} },
	}
}

// Page is one finished answer.
type Page struct {
	Status int    // HTTP status the page is served with
	Body   []byte // a complete HTML document in UTF-8, the caller's to keep

	Policy   string // value of Content-Security-Policy
	Referrer string // value of Referrer-Policy
}

// SetHeaders sets every header a built-in page is served with, replacing those
// of the same name.
func (p Page) SetHeaders(h http.Header) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", p.Policy)
	h.Set("Referrer-Policy", p.Referrer)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	// Providers may open in a popup of the application's own making; they keep
	// their opener.
	h.Set("Cross-Origin-Opener-Policy", "same-origin-allow-popups")
}

const (
	sameOrigin = "same-origin"
	noReferrer = "no-referrer" // for pages whose own URL is a secret
)

// render puts the prepared head and the executed template together. host names
// the site in the title where its theme has no name.
func (r *Renderer) render(name string, status int, view any, p policy, host string) (Page, error) {
	buf := r.buffers.Get().(*bytes.Buffer)
	defer r.buffers.Put(buf)
	buf.Reset()
	head := r.heads[name]
	buf.Write(head.title)
	if site := cmp.Or(r.look.name, host); site != "" {
		buf.WriteString(" · ")
		template.HTMLEscape(buf, []byte(site))
	}
	buf.Write(head.rest)
	if err := r.pages.ExecuteTemplate(buf, name+".html", view); err != nil {
		return Page{}, fmt.Errorf("page: %s: %w", name, err)
	}
	buf.WriteString("</main>\n</body>\n</html>\n")
	return Page{
		Status:   status,
		Body:     bytes.Clone(buf.Bytes()),
		Policy:   r.look.policy(p),
		Referrer: sameOrigin,
	}, nil
}
