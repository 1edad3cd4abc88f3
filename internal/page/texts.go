package page

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/internal/words"
)

// texts are what one language says, looked up by templates: the site's own
// texts before those that are built in. The latter are shared by all renderers.
type texts struct {
	tag          string
	own, builtIn map[string]phrase
}

// phrase is a text cut at its places, so that filling it is a concatenation.
type phrase struct {
	whole  string
	pieces []piece
}

// piece is what stands between places, and the number of the place behind it;
// -1: none, it is the last one.
type piece struct {
	before string
	place  int
}

// cut takes a text apart. Places are numbered as English has them.
func cut(s string, places []string) phrase {
	p := phrase{whole: s}
	for _, found := range words.Places(s) {
		number := slices.Index(places, found)
		if number < 0 {
			continue // a brace of the text's own
		}
		before, after, _ := strings.Cut(s, found)
		p.pieces = append(p.pieces, piece{before, number})
		s = after
	}
	p.pieces = append(p.pieces, piece{s, -1})
	return p
}

// phrases are the built-in texts of a language, taken apart.
func phrases(tag string) map[string]phrase {
	english := words.English()
	all := make(map[string]phrase, len(english))
	for key, s := range words.All(tag) {
		all[key] = cut(s, words.Places(english[key]))
	}
	return all
}

// ownTexts asks the site for its texts in one language. nil: it has none.
func ownTexts(tag string, text func(language, key, text string) string) (map[string]phrase, error) {
	if text == nil {
		return nil, nil
	}
	var errs []error
	own, english, builtIn := map[string]phrase{}, words.English(), words.All(tag)
	for _, key := range slices.Sorted(maps.Keys(english)) {
		s := text(tag, key, builtIn[key])
		if s == "" || s == builtIn[key] {
			continue
		}
		if err := words.Check(key, s); err != nil {
			errs = append(errs, fmt.Errorf("page: Text: %s: %w", tag, err))
		}
		own[key] = cut(s, words.Places(english[key]))
	}
	return own, errors.Join(errs...)
}

func (t texts) phrase(key string) phrase {
	if p, ok := t.own[key]; ok {
		return p
	}
	return t.builtIn[key]
}

// text is the whole of a text, with its places filled when values are given, in
// the order in which English has the places.
func (t texts) text(key string, values ...string) string {
	p := t.phrase(key)
	if len(values) == 0 {
		return p.whole
	}
	var b strings.Builder
	for _, piece := range p.pieces {
		b.WriteString(piece.before)
		if piece.place >= 0 && piece.place < len(values) {
			b.WriteString(words.Isolate(t.tag, values[piece.place]))
		}
	}
	return b.String()
}

// before and after are the two sides of a text's one place, for a value that is
// marked up.
func (t texts) before(key string) string {
	if p := t.phrase(key).pieces; len(p) > 0 {
		return p[0].before
	}
	return ""
}

func (t texts) after(key string) string {
	if p := t.phrase(key).pieces; len(p) > 1 {
		return p[1].before
	}
	return ""
}

// kindNames are the names that providers have of themselves, by type. They are
// words of the language; any other name is one that the site gave.
var kindNames = map[string]string{Email: "provider.email", Credentials: "provider.credentials", WebAuthn: "provider.passkey"}

// label is what people call a provider.
func (t texts) label(p Provider) string {
	if key := kindNames[p.Type]; key != "" && p.Name == words.Text("en", key) {
		return t.text(key)
	}
	return p.Label()
}

// alone is a label that stands by itself. In many languages a name of ours is
// written small inside of a sentence, but not here.
func (t texts) alone(p Provider) string {
	name := t.label(p)
	if name == "" || name == p.Label() {
		return name
	}
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:]
}

// device is what a session is called.
func (t texts) device(d Device) string {
	switch {
	case d.Name != "" && d.System != "":
		return t.text("account.device.on", d.Name, d.System)
	case d.Name == "" && d.System == "":
		return t.text("account.device")
	}
	return d.Name + d.System
}
