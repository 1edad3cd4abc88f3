package page

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Strings are texts by key. A text may hold one place in braces, such as
// {name}, which is filled when the page is made; a translation must hold the
// same one, wherever its grammar wants it.
type Strings map[string]string

// English returns a copy of every text the pages show.
func English() Strings { return maps.Clone(english) }

// texts are the strings of one renderer, looked up by templates. Each is kept
// cut at its place, so that filling it is a concatenation.
type texts map[string]phrase

type phrase struct{ whole, before, after string }

func newTexts(own Strings) (texts, error) {
	all := make(texts, len(english))
	for key, s := range english {
		all[key] = cut(s, place(s))
	}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(own)) {
		s, known := english[key]
		slot := place(s)
		switch {
		case !known:
			errs = append(errs, fmt.Errorf("page: Strings: no text has the key %q", key))
		case slot != "" && strings.Count(own[key], slot) != 1:
			errs = append(errs, fmt.Errorf("page: Strings: %q must hold %s exactly once", key, slot))
		default:
			all[key] = cut(own[key], slot)
		}
	}
	return all, errors.Join(errs...)
}

// place finds the {word} of a text; empty: it has none.
func place(s string) string {
	open := strings.IndexByte(s, '{')
	end := strings.IndexByte(s, '}')
	if open < 0 || end < open {
		return ""
	}
	return s[open : end+1]
}

func cut(s, slot string) phrase {
	if slot == "" {
		return phrase{whole: s}
	}
	before, after, _ := strings.Cut(s, slot)
	return phrase{whole: s, before: before, after: after}
}

// text is the whole of a text, with its place filled when a value is given.
func (t texts) text(key string, value ...string) string {
	p := t[key]
	if len(value) == 0 {
		return p.whole
	}
	return p.before + value[0] + p.after
}

// before and after are the two sides of a place, for a value that is marked up.
func (t texts) before(key string) string { return t[key].before }

func (t texts) after(key string) string { return t[key].after }
