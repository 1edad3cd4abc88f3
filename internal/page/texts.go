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

// texts are the texts of one language, which templates look up. The site's own
// texts come before the built-in ones, which all renderers share.
type texts struct {
	tag          string
	own, builtIn map[string]phrase
}

// phrase is a text cut at its places, such as {name}, so that filling it is a
// concatenation.
type phrase struct {
	whole  string
	pieces []piece
}

// piece is the text before a place, and the number of that place; -1: no place
// follows.
type piece struct {
	before string
	place  int
}

// cut splits a text at its places, in the order of the text. Each place has the number
// that it has in places, which are those of the English text. Braces that are not in
// places stay text.
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

// phrases returns the built-in texts of a language, cut at their places.
func phrases(tag string) map[string]phrase {
	english := words.English()
	all := make(map[string]phrase, len(english))
	for key, s := range words.All(tag) {
		all[key] = cut(s, words.Places(english[key]))
	}
	return all
}

// ownTexts returns the site's own texts in one language, or nil if text is nil. It calls
// text for each key, and leaves out what is empty or as built in. The error joins the
// texts whose places are wrong.
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

// phrase returns the text of key, the site's own first. It is zero for an unknown key.
func (t texts) phrase(key string) phrase {
	if p, ok := t.own[key]; ok {
		return p
	}
	return t.builtIn[key]
}

// text returns the text of key, or "" for an unknown key. Without values its places stay
// as they are written. With values, which are in the order of the English places, it
// fills the places, isolated in languages from right to left. A place beyond the last
// value becomes empty.
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

// before returns the part of a text before its first place, for a value with markup. It
// returns "" for an unknown key.
func (t texts) before(key string) string {
	if p := t.phrase(key).pieces; len(p) > 0 {
		return p[0].before
	}
	return ""
}

// after returns the part of a text after its one place, or "" if it has none.
func (t texts) after(key string) string {
	if p := t.phrase(key).pieces; len(p) > 1 {
		return p[1].before
	}
	return ""
}

// kindNames and kindButtons are the keys of the texts for a provider without a name,
// by type. A name comes from the site and is shown as it is.
var (
	kindNames   = map[string]string{Email: "provider.email", Credentials: "provider.credentials", WebAuthn: "provider.passkey"}
	kindButtons = map[string]string{Email: "signin.by.email", Credentials: "signin.by.password", WebAuthn: "signin.by.passkey"}
)

// label returns the name of a provider. Without a name, it returns the words for its
// type, or else its id.
func (t texts) label(p Provider) string {
	if key := kindNames[p.Type]; key != "" && p.Name == "" {
		return t.text(key)
	}
	return p.Label()
}

// ownButton returns the key of the text on the button of a provider without a name,
// or "" if the button says its name.
func ownButton(p Provider) string {
	if p.Name != "" {
		return ""
	}
	return kindButtons[p.Type]
}

// submit returns what the button of a provider says.
func (t texts) submit(p Provider) string {
	if key := ownButton(p); key != "" {
		return t.text(key)
	}
	return t.before("signin.with") + t.label(p) + t.after("signin.with")
}

// alone returns the label of a provider for a place where it stands by itself. Many
// languages write a default name in lower case inside a sentence; alone capitalises it.
func (t texts) alone(p Provider) string {
	name := t.label(p)
	if name == "" || name == p.Label() {
		return name
	}
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:]
}

// device returns the name of a session's browser and system. For a session in which an
// administrator acts, and for an unknown device, it returns a general text.
func (t texts) device(d Device) string {
	switch {
	case d.Acting:
		return t.text("account.device.support")
	case d.Name != "" && d.System != "":
		return t.text("account.device.on", d.Name, d.System)
	case d.Name == "" && d.System == "":
		return t.text("account.device")
	}
	return d.Name + d.System
}
