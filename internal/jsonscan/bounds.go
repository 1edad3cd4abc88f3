package jsonscan

// Bounds limit the work of decoding a text.
type Bounds struct {
	Values int // members of objects and elements of arrays, at any depth; 1 for an empty one
	Depth  int // of objects and arrays inside one another
	Length int // bytes of a name, a string or a number, as written; 0: any
}

// Holds reports whether text keeps to the bounds. It decodes nothing and stops at the
// first bound that is exceeded, so it costs much less than decoding. It does not check
// that text is JSON. If Values or Depth is 0, no object or array keeps to them.
func (b Bounds) Holds(text []byte) bool {
	values, depth, word := 0, 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			end, ok := b.quoted(text, i)
			if !ok {
				return false
			}
			i, word = end, 0
			continue
		case '{', '[':
			depth++
			values++
			word = 0
		case '}', ']':
			depth--
			word = 0
		case ',':
			values++
			word = 0
		case ' ', '\t', '\n', '\r', ':':
			word = 0
		default:
			word++
		}
		if depth > b.Depth || values > b.Values || b.Length > 0 && word > b.Length {
			return false
		}
	}
	return true
}

// quoted returns the index of the quotation mark that ends a string. i is the index of
// the mark that begins it. end is at or past the end of text if no mark ends the string.
// ok is false if the string is longer than Length, and end then means nothing.
func (b Bounds) quoted(text []byte, i int) (end int, ok bool) {
	for end = i + 1; end < len(text) && text[end] != '"'; end++ {
		if text[end] == '\\' {
			end++
		}
		if b.Length > 0 && end-i > b.Length {
			return end, false
		}
	}
	return end, true
}
