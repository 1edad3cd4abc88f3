package cookie

import (
	"slices"
	"strconv"
	"strings"
)

// ChunkSize is how many characters of a value fit into one cookie: browsers
// allow 4096 bytes a cookie, and 160 are set aside for its name and attributes.
const ChunkSize = 4096 - 160

const maxChunks = 32

// Chunk is one cookie of a value that Split has cut.
type Chunk struct {
	Name, Value string
}

// Split cuts value into cookies of at most limit characters (0 or less:
// ChunkSize). What fits keeps the plain name; what does not becomes name.0,
// name.1 and so on.
func Split(name, value string, limit int) []Chunk {
	if limit <= 0 {
		limit = ChunkSize
	}
	if len(value) <= limit {
		return []Chunk{{name, value}}
	}
	chunks := make([]Chunk, 0, (len(value)+limit-1)/limit)
	for i := 0; value != ""; i++ {
		n := min(limit, len(value))
		chunks = append(chunks, Chunk{name + "." + strconv.Itoa(i), value[:n]})
		value = value[n:]
	}
	return chunks
}

// Chunked returns the value kept under name, whole or in pieces. The cookie
// called exactly name wins; otherwise name.0, name.1 … are joined by number,
// and a gap or more than 32 pieces mean that there is none. Whole and pieces
// are never mixed. Empty and malformed cookies do not count.
//
// parts names all cookies that belong to name, leftovers included, so that
// those which a new value does not overwrite can be cleared, also when ok is
// false. It is nil when there is at most the exact one. Cookies that merely
// begin like name are left alone, and so are those with a number that no piece
// can have: a planted one ends no session.
func (j Jar) Chunked(name string) (value string, parts []string, ok bool) {
	var s set
	for c := j.cursor(); c.next(); {
		if suffix, found := strings.CutPrefix(c.name, name); found {
			s.add(suffix, &c)
		}
	}
	value, ok = s.join()
	if len(s.names) == 0 {
		return value, nil, ok
	}
	if s.whole != "" {
		s.names = slices.Insert(s.names, 0, name)
	}
	return value, s.names, ok
}

// set collects the cookies of one name.
type set struct {
	whole  string
	taken  bool     // a cookie with the exact name was seen, good or bad: no later one counts
	pieces []string // by number; nil: none was seen
	seen   uint32   // the same for pieces, one bit each
	excess bool     // a piece with the first number that is too great
	names  []string // of the pieces
}

// add adds the cookie at c, named name plus suffix, unless it does not belong to the
// name.
func (s *set) add(suffix string, c *cursor) {
	if suffix == "" {
		if !s.taken {
			s.taken = true
			s.whole, _ = clean(c.value)
		}
		return
	}
	n, isPiece := number(suffix)
	if !isPiece || n >= maxChunks {
		s.excess = s.excess || n == maxChunks && isPiece
		return
	}
	if s.seen&(1<<n) != 0 {
		return
	}
	value, _ := clean(c.value)
	s.seen |= 1 << n
	if s.pieces == nil {
		s.pieces = make([]string, maxChunks)
	}
	s.pieces[n] = value
	if value != "" {
		s.names = append(s.names, c.name)
	}
}

// number reads ".N". It returns maxChunks+1 for every number above maxChunks, and false
// for text of another form.
func number(suffix string) (n int, ok bool) {
	digits, found := strings.CutPrefix(suffix, ".")
	if !found || digits == "" || (digits[0] == '0' && len(digits) > 1) {
		return 0, false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
		n = min(n*10+int(digits[i]-'0'), maxChunks+1)
	}
	return n, true
}

// join returns the whole value, or else the joined pieces. It returns false if there is
// neither, a piece is missing, or there are too many.
func (s *set) join() (string, bool) {
	if s.whole != "" {
		return s.whole, true
	}
	count := len(s.names)
	if count == 0 || count == maxChunks && s.excess {
		return "", false
	}
	for _, piece := range s.pieces[:count] {
		if piece == "" {
			return "", false
		}
	}
	return strings.Join(s.pieces[:count], ""), true
}
