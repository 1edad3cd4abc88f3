package password

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Codes of [Hasher.Weakness].
const (
	Short    = "short"    // fewer characters than Options.MinLength
	Long     = "long"     // more than 1,024 bytes
	Control  = "control"  // with characters that cannot be typed everywhere
	Repeated = "repeated" // a repetition, or runs of neighbouring characters or keys
	Common   = "common"   // among the 10,000 most frequent leaked passwords
	Context  = "context"  // mostly made of the user's or the site's names
	Breached = "breached" // leaked, says Options.Breached
)

// Weakness returns why a new password must be refused, as a code such as [Short], or ""
// if it is good. about holds what an attacker would try first: the user's e-mail
// address and name, the site's name and host. Any composition of characters is allowed
// (NIST SP 800-63B-4 3.1.1.2). Weakness calls Options.Breached only for a password
// without another fault. The error is that of ctx: the code is then "", but the
// password was not fully checked.
func (h *Hasher) Weakness(ctx context.Context, password string, about []string) (code string, err error) {
	text, err := prepared(password)
	switch {
	case errors.Is(err, errLong):
		return Long, nil
	case utf8.RuneCountInString(password) < h.o.MinLength:
		return Short, nil
	case err != nil:
		return Control, nil
	}
	switch bare := folded(text); {
	case isMonotonous([]rune(bare)):
		return Repeated, nil
	case isCommon(bare):
		return Common, nil
	case isAbout(bare, append(foldAll(about), h.words...)):
		return Context, nil
	case h.breached(ctx, text):
		return Breached, nil
	}
	return "", ctx.Err()
}

// isMonotonous reports whether a text repeats one block of at most four characters or a
// third of its length, whichever is more, or consists of runs of one character that are
// four long or longer on average.
func isMonotonous(text []rune) bool {
	return hasPeriod(text, max(4, len(text)/3)) || runs(text)*4 <= len(text)
}

// hasPeriod reports whether a text consists of one block of at most n characters that
// is repeated. The text has to be at least two blocks long, and the last block may be
// cut.
func hasPeriod(text []rune, n int) bool {
	for period := 1; period <= n && 2*period <= len(text); period++ {
		repeats := true
		for i := period; i < len(text) && repeats; i++ {
			repeats = text[i] == text[i-period]
		}
		if repeats {
			return true
		}
	}
	return false
}

// runs returns into how many runs a text falls. In a run each character follows from
// the one before by the same step: equal, the next or the one before in Unicode, or the
// neighbour on a keyboard.
func runs(text []rune) (n int) {
	for i := 0; i < len(text); n++ {
		steps := allSteps
		for i++; i < len(text); i++ {
			if steps &= stepsBetween(text[i-1], text[i]); steps == 0 {
				break
			}
		}
	}
	return n
}

// steps is a set of ways from one character to the next.
type steps uint

const (
	equal steps = 1 << iota
	up
	down
	right
	left
	allSteps = equal | up | down | right | left
)

// keyboards are rows of keys, with what wraps around.
const keyboards = "12345678901 qwertyuiop asdfghjkl zxcvbnm qwertzuiop yxcvbnm azertyuiop qsdfghjklm wxcvbn 1qaz2wsx3edc4rfv5tgb6yhn7ujm"

// stepsBetween returns all steps that lead from a to b, or 0 if none does.
func stepsBetween(a, b rune) (s steps) {
	switch b - a {
	case 0:
		s |= equal
	case 1:
		s |= up
	case -1:
		s |= down
	}
	if strings.Contains(keyboards, string([]rune{a, b})) {
		s |= right
	}
	if strings.Contains(keyboards, string([]rune{b, a})) {
		s |= left
	}
	return s
}

// isAbout reports whether a text holds a name or a word of one, and fewer than eight
// characters besides. text and names have to be folded.
func isAbout(text string, names []string) bool {
	rest := text
	for _, name := range parts(names) {
		rest = strings.ReplaceAll(rest, name, "")
	}
	return rest != text && utf8.RuneCountInString(rest) < 8
}

// parts returns the names, and the words in them, that have at least three characters.
// The longest in bytes come first.
func parts(names []string) (all []string) {
	for _, name := range names {
		if utf8.RuneCountInString(name) >= 3 {
			all = append(all, name)
		}
		words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		for _, word := range words {
			if utf8.RuneCountInString(word) >= 3 && word != name {
				all = append(all, word)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}
