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
	"fmt"
	"html/template"
	"net/http"
	"sync"
)

//go:embed templates/*.html
var templates embed.FS

// Options is what the operator chooses, once. The zero value is the pages in
// every built-in language, following the browser's colour scheme.
type Options struct {
	Theme Theme

	// Languages are BCP 47 tags. A browser that asks for none of them gets the
	// first. Empty means all built-in languages. A language that is not built in
	// takes the texts of its nearest relative, or the English ones.
	Languages []string

	// Text replaces texts. [New] calls it once for each key of each language, with
	// the text that would be shown. If it is nil or returns an empty string, that
	// text is shown.
	Text func(language, key, text string) string
}

// Renderer renders the pages in one language. It never changes and may be used by many
// goroutines at once. A page has status 200 unless its method says otherwise. A method
// that renders a page returns an error only if a template fails. The Page is of no use
// then.
type Renderer struct {
	look   *look
	texts  texts
	varies bool     // there are other languages
	head   prepared // of all pages but those that are secluded
	hidden prepared // the head of those
	broken error    // why nothing can be rendered
	endURL string   // where an administrator stops to act as the user; empty: none does
}

// Acting returns a copy of r. Each page of the copy says that an administrator acts as
// the user, and links to endURL, where that ends. If endURL is empty, its pages say
// nothing.
func (r *Renderer) Acting(endURL string) *Renderer {
	copied := *r
	copied.endURL = endURL
	return &copied
}

// newRenderer returns a renderer. If the heads of the pages cannot be rendered, it sets
// broken.
func newRenderer(l *look, t texts, varies bool) *Renderer {
	r := &Renderer{look: l, texts: t, varies: varies}
	var err error
	if r.head, err = r.prepare(false); err == nil {
		r.hidden, err = r.prepare(true)
	}
	if err != nil {
		r.broken = fmt.Errorf("page: head: %w", err)
	}
	return r
}

// sheet is a copy of the templates for one page at a time. The function text is
// bound to the whole set of templates, so a set has one language while it is
// executed. There are as many sheets as pages are rendered at once, regardless of
// the number of languages and configurations.
type sheet struct {
	pages *template.Template
	texts texts
}

var (
	sheets  sync.Pool // of *sheet
	buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}
)

// fill executes the template name in the language of r and appends the result to to.
// With an error it may have appended a part.
func (r *Renderer) fill(to *bytes.Buffer, name string, view any) error {
	s, _ := sheets.Get().(*sheet)
	if s == nil {
		s = &sheet{}
		var err error
		if s.pages, err = template.New("page").Funcs(s.funcs()).ParseFS(templates, "templates/*.html"); err != nil {
			return fmt.Errorf("templates: %w", err)
		}
	}
	defer sheets.Put(s)
	s.texts = r.texts
	return s.pages.ExecuteTemplate(to, name+".html", view)
}

// funcs returns the functions that templates call, besides those of
// html/template.
func (s *sheet) funcs() template.FuncMap {
	return template.FuncMap{
		"text":    func(key string, values ...string) string { return s.texts.text(key, values...) },
		"before":  func(key string) string { return s.texts.before(key) },
		"after":   func(key string) string { return s.texts.after(key) },
		"mark":    mark,
		"moment":  moment,
		"instant": instant,
		"label":   func(p Provider) string { return s.texts.label(p) },
		"alone":   func(p Provider) string { return s.texts.alone(p) },
		"clock":   clock,
		"atOnce":  atOnce,
		"button":  ownButton,
		"message": func(key string) message { return message{Key: key} },
	}
}

// Page is one finished answer.
type Page struct {
	Status int    // HTTP status the page is served with
	Body   []byte // a complete HTML document in UTF-8, the caller's to keep

	Policy   string // value of Content-Security-Policy
	Referrer string // value of Referrer-Policy
	Language string // value of Content-Language
	Varies   bool   // others may get it in another language
}

// SetHeaders sets in h every header of a built-in page, Vary only if p.Varies. It
// replaces headers of the same name. The caller writes status and body.
func (p Page) SetHeaders(h http.Header) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", p.Policy)
	h.Set("Referrer-Policy", p.Referrer)
	h.Set("Content-Language", p.Language)
	if p.Varies {
		h.Set("Vary", "Accept-Language")
	}
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

// site returns what a page calls the site: the name of the theme, or else host. It is
// empty if host is, which means that the site is not named.
func (r *Renderer) site(host string) string {
	if host == "" {
		return ""
	}
	return cmp.Or(r.look.name, host)
}

// render executes the template name with view and joins the result to the head with the
// title of that name. host names the site in the title if the theme has no name. If host
// is empty, too, the title names no site.
func (r *Renderer) render(name string, status int, view any, p policy, host string) (Page, error) {
	return r.renderAs(titleKey(name), name, status, view, p, host)
}

// renderAs does what render does, with the text called title as the title.
func (r *Renderer) renderAs(title, name string, status int, view any, p policy, host string) (Page, error) {
	if r.broken != nil {
		return Page{}, r.broken
	}
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	head := &r.head
	if p.secluded {
		head = &r.hidden
	}
	buf.Write(head.title)
	template.HTMLEscape(buf, []byte(r.texts.text(title)))
	buf.WriteString(ownTitle(view))
	if site := cmp.Or(r.look.name, host); site != "" {
		buf.WriteString(" · ")
		template.HTMLEscape(buf, []byte(site))
	}
	buf.Write(head.style)
	buf.WriteString(r.look.style)
	buf.Write(head.rest)
	if r.endURL != "" {
		if err := r.fill(buf, "acting", r.endURL); err != nil {
			return Page{}, fmt.Errorf("page: acting: %w", err)
		}
	}
	if err := r.fill(buf, name, view); err != nil {
		return Page{}, fmt.Errorf("page: %s: %w", name, err)
	}
	buf.WriteString("</main>\n</body>\n</html>\n")
	return Page{
		Status:   status,
		Body:     bytes.Clone(buf.Bytes()),
		Policy:   r.look.policy(p, bytes.Contains(buf.Bytes(), []byte("<form "))),
		Referrer: sameOrigin,
		Language: r.texts.tag,
		Varies:   r.varies,
	}, nil
}
