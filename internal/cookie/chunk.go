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

// Split cuts value into cookies whose values have at most limit bytes each. A limit of 0
// or less is ChunkSize. A value that fits into one cookie keeps the plain name, also if
// it is empty. A longer value becomes name.0, name.1 and so on. Split makes any number of
// pieces, though Chunked reads no more than 32.
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

// Chunked returns the value that is kept under name, in one cookie or in pieces. If there
// is a cookie called exactly name, Chunked returns its value. Otherwise it joins name.0,
// name.1 … in the order of their numbers. ok is false if there is neither, if a number is
// missing among the pieces, or if there are more than 32. Of several cookies of one name
// only the first counts. An empty or malformed cookie counts as none.
//
// If there are pieces, parts has their names, also when ok is false. It also has name, in
// front, if there is a cookie called exactly that. A caller that writes a new value
// clears those of parts that it does not overwrite. parts is nil if there are no pieces,
// also if there is a cookie called name. It has no cookies with a suffix that is no
// number, or with a number of 32 or more. Such a cookie beside a value of fewer than 32
// pieces is ignored, so that a planted one ends no session.
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
	seen   uint32   // bit n: the piece n was seen, good or bad, and no later one counts
	excess bool     // a piece with the number maxChunks was seen
	names  []string // of the pieces
}

// add adds the cookie at which c stands, whose name is that of the set plus suffix. It
// ignores a cookie whose suffix is neither empty nor the number of a piece, and one whose
// name was added before.
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

// number reads the suffix of a piece: a dot and a number without leading zeros. It
// returns maxChunks+1 for every number above maxChunks, and false for text of another
// form.
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
// neither, a piece is missing, or there are more than maxChunks.
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
