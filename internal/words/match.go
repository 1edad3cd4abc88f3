package words

import (
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/language"
)

// IsTag reports whether s has the form of a language tag (BCP 47): groups of at most
// eight ASCII letters and digits, joined by hyphens. The first has at least two letters,
// and no digit. IsTag returns false for more than 35 bytes.
func IsTag(s string) bool {
	if first, _, _ := strings.Cut(s, "-"); len(s) > longestTag || len(first) < 2 || strings.ContainsAny(first, digits) {
		return false
	}
	for group := range strings.SplitSeq(s, "-") {
		if group == "" || len(group) > 8 || strings.Trim(group, letters+digits) != "" {
			return false
		}
	}
	return true
}

const letters, digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "0123456789"

const (
	longestHeader = 512 // bytes of each line of Accept-Language that are looked at
	mostRanges    = 32  // languages in all lines that are looked at
	longestTag    = 35  // bytes of one, the longest that RFC 5646, 4.4.1 wants room for
)

// Matcher finds the language on offer that suits a browser best. It is safe
// for concurrent use.
type Matcher struct {
	offer   []string
	nearest func() (language.Matcher, []language.Tag) // takes 40 µs and 20 KB, so it is made when it is needed
}

// NewMatcher returns a Matcher for the language tags in offer, which must not change
// any more.
func NewMatcher(offer []string) *Matcher {
	if own := builtInMatcher(); slices.Equal(offer, own.offer) {
		return own
	}
	return newMatcher(offer)
}

var builtInMatcher = sync.OnceValue(func() *Matcher { return newMatcher(Tags()) })

// newMatcher returns a Matcher for offer, without sharing that of the built-in
// languages.
func newMatcher(offer []string) *Matcher {
	return &Matcher{offer, sync.OnceValues(func() (language.Matcher, []language.Tag) {
		tags := make([]language.Tag, len(offer))
		for i, have := range offer {
			tags[i] = language.Make(have)
		}
		return language.NewMatcher(tags), tags
	})}
}

// Match returns the language that suits best, or "" if none does. header holds
// the lines of Accept-Language (RFC 9110, 12.5.4). For "*" it returns the
// first language on offer.
//
// It never substitutes another language for the wanted one, but accepts every
// variety of it: de-AT finds de-CH, and pt finds pt-BR.
func (m *Matcher) Match(header ...string) string {
	best, weight, seen := "", 0, 0
	for _, line := range header {
		line = line[:min(len(line), longestHeader)]
		for item := range strings.SplitSeq(line, ",") {
			if seen++; seen > mostRanges {
				return best
			}
			wanted, q := weigh(item)
			if q <= weight {
				continue
			}
			if found := m.lookup(wanted); found != "" {
				best, weight = found, q
			}
		}
	}
	return best
}

// lookup returns the language on offer for one range of the header: the same tag, or
// else a variety of the same language. For "*" it is the first on offer. It returns ""
// if there is none.
func (m *Matcher) lookup(wanted string) string {
	if wanted == "*" && len(m.offer) > 0 {
		return m.offer[0]
	}
	if i := slices.IndexFunc(m.offer, func(have string) bool { return strings.EqualFold(have, wanted) }); i >= 0 {
		return m.offer[i]
	}
	if !IsTag(wanted) || len(m.offer) == 0 {
		return ""
	}
	tag, _ := language.Parse(wanted) // without what x/text does not know of it
	nearest, tags := m.nearest()
	_, i, confidence := nearest.Match(tag)
	if confidence == language.Exact || confidence != language.No && sameLanguage(tag, tags[i]) {
		return m.offer[i]
	}
	return ""
}

// sameLanguage reports whether two tags have the same base language. x/text
// also matches languages that most readers of one understand, such as Kazakh
// and Russian or Klingon and English.
func sameLanguage(a, b language.Tag) bool {
	one, _ := a.Base()
	other, _ := b.Base()
	return one == other
}

// weigh splits an item such as "de;q=0.8". The weight is in thousandths, and 0 if
// it is malformed.
func weigh(item string) (wanted string, q int) {
	wanted, params, weighed := strings.Cut(item, ";")
	wanted = strings.TrimSpace(wanted)
	if !weighed {
		return wanted, 1000
	}
	params = strings.TrimSpace(params)
	if len(params) < 3 || params[0]|0x20 != 'q' || params[1] != '=' {
		return wanted, 0
	}
	return wanted, thousandths(params[2:])
}

// thousandths parses a number that begins with 0 or 1 and has up to three decimals, and
// returns it in thousandths, at most 1000. It returns 0 for any other text.
func thousandths(s string) int {
	if s == "" || len(s) > 5 || (s[0] != '0' && s[0] != '1') || (len(s) > 1 && s[1] != '.') {
		return 0
	}
	n, unit := int(s[0]-'0')*1000, 100
	for i := 2; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0
		}
		n += int(s[i]-'0') * unit
		unit /= 10
	}
	return min(n, 1000)
}
