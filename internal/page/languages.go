package page

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/latchkeyhq/latchkey/internal/words"
)

// Pages are the pages of one configuration in all of its languages. They never
// change after [New] and may be used by many goroutines at once.
type Pages struct {
	languages []string
	renderers map[string]func() *Renderer // made when a language is first asked for
}

// New checks the options. The error joins every fault and names each wrong field. New
// calls o.Text for each text of each language. It prepares no language: [Pages.In] does.
func New(o Options) (*Pages, error) {
	if len(o.Languages) == 0 {
		o.Languages = words.Tags()
	}
	look, lookErr := newLook(o.Theme)
	p := &Pages{languages: slices.Clone(o.Languages), renderers: make(map[string]func() *Renderer, len(o.Languages))}
	errs := []error{lookErr, checkLanguages(o)}
	for _, tag := range p.languages {
		own, err := ownTexts(tag, o.Text)
		errs = append(errs, err)
		p.renderers[tag] = sync.OnceValue(func() *Renderer {
			return newRenderer(&look, texts{tag, own, nearest(tag)}, len(p.languages) > 1)
		})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return p, nil
}

// checkLanguages returns an error for each language that is no BCP 47 tag, stands twice,
// or has no texts at all.
func checkLanguages(o Options) error {
	var errs []error
	for i, tag := range o.Languages {
		switch {
		case !words.IsTag(tag):
			errs = append(errs, fmt.Errorf("page: Languages: %q is not a BCP 47 tag such as de or pt-BR", tag))
		case slices.ContainsFunc(o.Languages[:i], func(other string) bool { return strings.EqualFold(other, tag) }):
			errs = append(errs, fmt.Errorf("page: Languages: %q stands there twice", tag))
		case o.Text == nil && words.Near(tag) == "":
			errs = append(errs, fmt.Errorf("page: Languages: %q is not built in, and there is no Text to translate it", tag))
		}
	}
	return errors.Join(errs...)
}

// In returns the renderer for a language of the configuration. Any other tag
// means the first language.
func (p *Pages) In(tag string) *Renderer {
	if r, ok := p.renderers[tag]; ok {
		return r()
	}
	return p.renderers[p.languages[0]]()
}

// builtIn returns the built-in texts by language. A language is parsed when it is
// first needed, and shared by all configurations.
var builtIn = sync.OnceValue(func() map[string]func() map[string]phrase {
	all := map[string]func() map[string]phrase{}
	for _, tag := range words.Tags() {
		all[tag] = sync.OnceValue(func() map[string]phrase { return phrases(tag) })
	}
	return all
})

// nearest returns the built-in texts of the language nearest to tag, or the
// English ones.
func nearest(tag string) map[string]phrase { return builtIn()[cmp.Or(words.Near(tag), "en")]() }
