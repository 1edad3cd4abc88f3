// Package lateheader collects headers that any goroutine may add to a response, and
// has the goroutine that answers write them.
package lateheader

import (
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Header collects headers until the response begins. The zero Header is empty and
// ready to use. It is safe for concurrent use.
type Header struct {
	mu    sync.Mutex
	lines http.Header
	given []string // lines of Set-Cookie that Give has added
	sent  bool
}

// Change calls change with the collected headers. It does nothing once the response
// has begun.
func (h *Header) Change(change func(http.Header)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sent {
		return
	}
	if h.lines == nil {
		h.lines = http.Header{}
	}
	change(h.lines)
}

// Begun reports whether the response has begun.
func (h *Header) Begun() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sent
}

// Take returns the collected headers and forgets them. It returns nil if there are
// none.
func (h *Header) Take() http.Header {
	h.mu.Lock()
	defer h.mu.Unlock()
	lines := h.lines
	h.lines = nil
	return lines
}

// Give adds the collected headers to those of a response, as Merge does, and forgets them.
// Cookies that an earlier call has added give way to later ones of their names.
func (h *Header) Give(response http.Header) {
	h.mu.Lock()
	defer h.mu.Unlock()
	lines := h.lines
	h.lines = nil
	later := lines["Set-Cookie"]
	if len(later) > 0 && len(h.given) > 0 {
		response["Set-Cookie"] = slices.DeleteFunc(slices.Clone(response["Set-Cookie"]), func(line string) bool {
			name, _, _ := strings.Cut(line, "=")
			return slices.Contains(h.given, line) && Decides(later, name)
		})
	}
	h.given = append(h.given, later...)
	Merge(response, lines)
}

// Decide adds lines of Set-Cookie to a response. What the response has said of the same
// cookies, or of pieces of them, is removed: the lines are complete by themselves.
func Decide(response http.Header, lines ...string) {
	given := slices.DeleteFunc(slices.Clone(response["Set-Cookie"]), func(line string) bool {
		name, _, _ := strings.Cut(line, "=")
		return Decides(lines, name)
	})
	if all := append(given, lines...); len(all) > 0 {
		response["Set-Cookie"] = all
	}
}

// send adds the collected headers to those of a response, which begins now.
func (h *Header) send(response http.Header) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent = true
	Merge(response, h.lines)
	h.lines = nil
}

// Merge adds headers to those of a response. A cookie that the response [Decides] is not
// added, and the others come before those of the response. Vary is completed.
// Cache-Control is kept, unless the added one forbids to store. Any other header is
// replaced. Merge may change the values in added.
func Merge(response, added http.Header) {
	for name, lines := range added {
		switch {
		case name == "Set-Cookie":
			given := response[name]
			isDecided := func(line string) bool {
				cookie, _, _ := strings.Cut(line, "=")
				return Decides(given, cookie)
			}
			response[name] = slices.Concat(slices.DeleteFunc(lines, isDecided), given)
		case name == "Vary":
			for _, line := range lines {
				if !varies(response[name], line) {
					response[name] = append(slices.Clone(response[name]), line)
				}
			}
		case name != "Cache-Control" || response.Get(name) == "" || strings.Contains(lines[0], "no-store"):
			response[name] = lines
		}
	}
}

// Decides reports whether lines of Set-Cookie set or clear a cookie or a piece of it,
// such as name.0, with __Host- or __Secure- in front or without. What would keep a
// session alive has to stay away then: a browser keeps the last cookie of one name
//
func Decides(lines []string, name string) bool {
	name = stem(name)
	for _, line := range lines {
		if given, _, _ := strings.Cut(line, "="); stem(given) == name {
			return true
		}
	}
	return false
}

// stem returns the name of a cookie without its prefix and the numbers of pieces.
func stem(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "__Host-"), "__Secure-")
	for {
		end := strings.LastIndexByte(name, '.')
		if end < 0 || end == len(name)-1 || strings.Trim(name[end+1:], "0123456789") != "" {
			return name
		}
		name = name[:end]
	}
}

// varies reports whether lines of Vary name a header (RFC 9110, section 12.5.5).
func varies(lines []string, header string) bool {
	for _, line := range lines {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.TrimSpace(name); name == "*" || strings.EqualFold(name, header) {
				return true
			}
		}
	}
	return false
}
