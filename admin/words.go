package admin

import (
	"context"
	"embed"
	"strings"
	"sync"

	"github.com/latchkeyhq/latchkey"
)

//go:embed texts/*.txt
var files embed.FS

// textsOf returns the texts of a language, read once. nil: there are none.
var textsOf = func() func(tag string) map[string]string {
	var mu sync.Mutex
	known := map[string]map[string]string{}
	return func(tag string) map[string]string {
		mu.Lock()
		defer mu.Unlock()
		if texts, there := known[tag]; there {
			return texts
		}
		body, err := files.ReadFile("texts/" + tag + ".txt")
		if err != nil {
			return nil // not remembered: a browser chooses the tag, and could fill the memory
		}
		texts := map[string]string{}
		for line := range strings.Lines(string(body)) {
			if key, text, is := strings.Cut(strings.TrimSpace(line), " = "); is {
				texts[key] = text
			}
		}
		known[tag] = texts
		return texts
	}
}()

// words are the texts of one request.
type words struct {
	language string
	rtl      bool
	own      map[string]string // of this package
	root     func(key string, values ...string) string
	change   func(language, key, text string) string // nil: no text is replaced
}

// inWords returns the texts in the language of the request, and keeps them in c.words for
// the next call. It stores the cookies that they came with in c.cookies. The error is
// that of [latchkey.Core.Forms].
func (c *call) inWords(ctx context.Context) (*words, error) {
	if c.words != nil {
		return c.words, nil
	}
	f, cookies, err := c.core.Forms(ctx, c.r)
	if err != nil {
		return nil, err
	}
	c.cookies = cookies
	c.words = wordsOf(f, c.Text)
	return c.words, nil
}

// wordsOf returns the texts in the language of f. If this package has none for a tag such
// as pt-BR, it takes those of pt, or else the English ones. change may replace a text;
// nil: none.
func wordsOf(f *latchkey.Forms, change func(language, key, text string) string) *words {
	w := &words{language: f.Language, rtl: f.Direction == "rtl", root: f.Text, change: change}
	for tag := f.Language; tag != "" && w.own == nil; {
		w.own = textsOf(tag)
		cut := strings.LastIndexByte(tag, '-')
		tag = tag[:max(cut, 0)]
	}
	return w
}

// has reports whether this package has a text with the key.
func has(key string) bool { return textsOf("en")[key] != "" }

// text returns the text of key, in English if the language lacks it, or what Options.Text
// has in its place. values are pairs of name and value: the value replaces {name} in the
// text.
func (w *words) text(key string, values ...string) string {
	s := w.own[key]
	if s == "" {
		s = textsOf("en")[key]
	}
	if w.change != nil {
		if own := w.change(w.language, key, s); own != "" {
			s = own
		}
	}
	for i := 0; i+1 < len(values); i += 2 {
		value := values[i+1]
		if w.rtl {
			value = "\u2068" + value + "\u2069" // UAX 9, 2.4
		}
		s = strings.ReplaceAll(s, "{"+values[i]+"}", value)
	}
	return s
}
