package words

import (
	"regexp"
	"strings"
)

// IsTag says whether s has the form of a language tag (BCP 47).
func IsTag(s string) bool { return len(s) <= 35 && tagForm.MatchString(s) }

var tagForm = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)

const (
	longestHeader = 512 // bytes of Accept-Language that are looked at
	mostRanges    = 32  // languages in it
	longestRange  = 35  // bytes of one, the longest that RFC 5646, 4.4.1 wants room for
)

// Match finds the language that suits best. header is what Accept-Language
// holds (RFC 9110, 12.5.4), in any number of lines; offer are the languages
// there are. The first of offer stands for "*". Empty: none suits.
//
// Ranges are looked up as RFC 4647, 3.4 has it: zh-Hans-SG finds zh-Hans. One
// that finds nothing so takes a relative: de-AT finds de-CH, and pt finds pt-BR.
func Match(header, offer []string) string {
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
			if found := lookup(wanted, offer); found != "" {
				best, weight = found, q
			}
		}
	}
	return best
}

// weigh takes "de;q=0.8" apart. The weight is in thousandths, and 0 for what
// makes no sense.
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

// thousandths reads a number between 0 and 1, of up to three decimals.
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

// lookup finds a language of offer for one range.
func lookup(wanted string, offer []string) string {
	if wanted == "" || len(wanted) > longestRange || len(offer) == 0 {
		return ""
	}
	if wanted == "*" {
		return offer[0]
	}
	for {
		current := renamed(wanted)
		for _, have := range offer {
			if strings.EqualFold(have, wanted) || strings.EqualFold(have, current) {
				return have
			}
		}
		end := strings.LastIndexByte(wanted, '-')
		if end < 0 {
			break
		}
		wanted = wanted[:end]
	}
	for _, have := range offer {
		if primary, _, _ := strings.Cut(have, "-"); strings.EqualFold(primary, wanted) {
			return have
		}
	}
	return ""
}

// newNames are tags that say less than another: Chinese has two scripts, and
// which one depends on the country; some tags took the place of older ones.
var newNames = [][2]string{
	{"zh", "zh-Hans"},
	{"zh-CN", "zh-Hans"},
	{"zh-SG", "zh-Hans"},
	{"zh-TW", "zh-Hant"},
	{"zh-HK", "zh-Hant"},
	{"zh-MO", "zh-Hant"},
	{"no", "nb"},
	{"iw", "he"},
}

func renamed(tag string) string {
	for _, n := range newNames {
		if strings.EqualFold(n[0], tag) {
			return n[1]
		}
	}
	return tag
}
