package jwt

import "github.com/latchkeyhq/latchkey/internal/jsonscan"

// maxHeader bounds the only JSON that is read before it is authenticated.
// Headers of this format have 163 characters.
const maxHeader = 1 << 10

// header is a protected header that passed: alg is "dir" and enc one of ours.
type header struct {
	enc    string
	kid    string
	hasKid bool // without kid the newest secret is meant
}

// parseHeader decodes a protected header. It returns false for a header over maxHeader, a
// malformed one, and one with a member that comes twice. It also returns false for what
// changes the meaning of a token: an algorithm other than "dir", an unknown encryption,
// compression (zip), and extensions that must be understood (crit). It ignores other
// members, as RFC 7516 section 4 demands.
func parseHeader(encoded string) (h header, ok bool) {
	if len(encoded) > maxHeader {
		return h, false
	}
	text := make([]byte, strict.DecodedLen(len(encoded)))
	if !decodeExactly(text, encoded) {
		return h, false
	}
	members, err := jsonscan.DistinctMembers(text, make([]jsonscan.Member, 0, 8))
	if err != nil {
		return h, false
	}
	return h, h.read(members)
}

// read copies the members into h. It reports whether this package can open such a token:
// alg is dir, enc is known, kid is text if present, and nothing is compressed or critical.
func (h *header) read(members []jsonscan.Member) bool {
	direct := false
	for _, m := range members {
		switch string(m.Key) {
		case "zip", "crit":
			return false
		case "alg":
			alg, _ := m.Text()
			direct = alg == "dir"
		case "enc":
			h.enc, _ = m.Text()
		case "kid":
			if h.kid, h.hasKid = m.Text(); !h.hasKid {
				return false
			}
		}
	}
	return direct && (h.enc == encCBC || h.enc == encGCM)
}
