package mailbox

import (
	"math"
	"unicode/utf8"
)

// The parameters of Punycode (RFC 3492, section 5).
const (
	punyBase        = 36
	punyMin         = 1
	punyMax         = 26
	punySkew        = 38
	punyDamp        = 700
	punyFirstBias   = 72
	punyFirstLetter = utf8.RuneSelf
	punyDigits      = "abcdefghijklmnopqrstuvwxyz0123456789"
)

// punycode encodes letters in ASCII (RFC 3492, section 6.3), without xn--. No number here
// overflows, because validDomain refuses more than 1012 bytes before asciiLen and asciiLabel
// encode.
func punycode(letters []rune) string {
	var out []byte
	for _, r := range letters {
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
		}
	}
	plain := len(out)
	if plain > 0 {
		out = append(out, '-')
	}
	next, delta, bias := rune(punyFirstLetter), 0, punyFirstBias
	for done := plain; done < len(letters); {
		smallest := smallestFrom(letters, next)
		delta += int(smallest-next) * (done + 1)
		next = smallest
		for _, r := range letters {
			switch {
			case r < next:
				delta++
			case r == next:
				out = appendNumber(out, delta, bias)
				bias = adaptBias(delta, done+1, done == plain)
				delta = 0
				done++
			}
		}
		delta++
		next++
	}
	return string(out)
}

// smallestFrom returns the smallest of letters that is not below from. There must be one.
func smallestFrom(letters []rune, from rune) rune {
	smallest := rune(math.MaxInt32)
	for _, r := range letters {
		if r >= from {
			smallest = min(smallest, r)
		}
	}
	return smallest
}

// appendNumber appends n as an integer of variable length (RFC 3492, section 3.3).
func appendNumber(out []byte, n, bias int) []byte {
	for k := punyBase; ; k += punyBase {
		threshold := min(max(k-bias, punyMin), punyMax)
		if n < threshold {
			return append(out, punyDigits[n])
		}
		n -= threshold
		out = append(out, punyDigits[threshold+n%(punyBase-threshold)])
		n /= punyBase - threshold
	}
}

// adaptBias returns the next bias (RFC 3492, section 6.1).
func adaptBias(delta, length int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / length
	k := 0
	for ; delta > (punyBase-punyMin)*punyMax/2; k += punyBase {
		delta /= punyBase - punyMin
	}
	return k + (punyBase-punyMin+1)*delta/(delta+punySkew)
}
