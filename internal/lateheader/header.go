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

// Change calls change with the collected headers, which change may modify. Their names
// must be in canonical form. change must not call methods of h. Change does nothing once
// the response has begun.
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

// Begun reports whether the response has begun, so that Change comes too late.
func (h *Header) Begun() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sent
}

// Take returns the collected headers, which then belong to the caller, and forgets them.
// The result is nil or empty if there are none.
func (h *Header) Take() http.Header {
	h.mu.Lock()
	defer h.mu.Unlock()
	lines := h.lines
	h.lines = nil
	return lines
}

// Give adds the collected headers to those of a response, as Merge does, and forgets
// them. It does not mark the response as begun: more headers can be collected and given.
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

// Decide adds lines of Set-Cookie to a response. It removes the lines that the response
// has for the same cookies, or for pieces of them: the new lines are complete by
// themselves. The response may keep lines itself: the caller must not change them.
func Decide(response http.Header, lines ...string) {
	if given := response["Set-Cookie"]; len(given) > 0 {
		kept := slices.DeleteFunc(slices.Clone(given), func(line string) bool {
			name, _, _ := strings.Cut(line, "=")
			return Decides(lines, name)
		})
		lines = append(kept, lines...)
	}
	if len(lines) > 0 {
		response["Set-Cookie"] = slices.Clip(lines)
	}
}

// send adds the collected headers to those of a response, as Merge does, and marks the
// response as begun.
func (h *Header) send(response http.Header) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent = true
	Merge(response, h.lines)
	h.lines = nil
}

// Merge adds headers to those of a response. Both have canonical names. Cookies are
// added in front of those of the response, except for those that the response sets or
// clears itself (see [Decides]). Vary is completed. Cache-Control is kept, unless the
// added one forbids to store. Any other header is replaced. Merge may change the values
// in added, and response may share them.
func Merge(response, added http.Header) {
	for name, lines := range added {
		switch {
		case name == "Set-Cookie":
			given := response[name]
			if len(given) == 0 {
				response[name] = lines
				continue
			}
			isDecided := func(line string) bool {
				cookie, _, _ := strings.Cut(line, "=")
				return Decides(given, cookie)
			}
			response[name] = slices.Concat(slices.DeleteFunc(lines, isDecided), given)
		case name == "Vary":
			Vary(response, lines)
		case name != "Cache-Control" || response.Get(name) == "" || strings.Contains(lines[0], "no-store"):
			response[name] = lines
		}
	}
}

// Vary adds names to the Vary of a response, except for those that it has. The response
// may keep names itself: the caller must not change them.
func Vary(response http.Header, names []string) {
	if len(response["Vary"]) == 0 && len(names) == 1 {
		response["Vary"] = slices.Clip(names)
		return
	}
	for _, name := range names {
		if !varies(response["Vary"], name) {
			response["Vary"] = append(slices.Clip(response["Vary"]), name)
		}
	}
}

// Decides reports whether lines of Set-Cookie set or clear the cookie called name or a
// piece of it, such as name.0. The prefixes __Host- and __Secure- make no difference. If
// Decides returns true, the caller must not add a line that keeps a session alive: a
// browser keeps the last cookie of one name.
func Decides(lines []string, name string) bool {
	name = stem(name)
	for _, line := range lines {
		if given, _, _ := strings.Cut(line, "="); stem(given) == name {
			return true
		}
	}
	return false
}

// stem returns the name of a cookie without its prefix and the numbers of pieces. For
// __Host-name.0 that is name.
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

// varies reports whether lines of Vary name a header or are "*" (RFC 9110, section
// 12.5.5).
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
