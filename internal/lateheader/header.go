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

// send adds the collected headers to those of a response, which begins now.
func (h *Header) send(response http.Header) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent = true
	Merge(response, h.lines)
	h.lines = nil
}

// Merge adds headers to those of a response. Cookies come before those of the
// response, because a browser keeps the last of one name. Vary is completed.
// Cache-Control is kept, unless the added one forbids to store. Any other header is
// replaced.
func Merge(response, added http.Header) {
	for name, lines := range added {
		switch {
		case name == "Set-Cookie":
			response[name] = slices.Concat(lines, response[name])
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
