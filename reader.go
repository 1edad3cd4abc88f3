package latchkey

import (
	"net/http"
	"strings"
)

// Who reads an answer: a person, in a browser that opens a page, or a script.

// opensPage: a browser is about to show the answer to a person. Browsers say so
// (Fetch Metadata, section 2.2); old ones, and those of sites on plain http, at
// least ask for HTML.
func opensPage(h http.Header) bool {
	if isHTMX(h) {
		return false
	}
	if _, script := h["X-Auth-Return-Redirect"]; script {
		return false
	}
	if mode := h.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	return strings.Contains(h.Get("Accept"), "text/html")
}

// isScript: whoever asks has no use for a page, and could not tell one from what
// it asked for.
func isScript(h http.Header) bool {
	if isHTMX(h) {
		return true
	}
	if mode := h.Get("Sec-Fetch-Mode"); mode != "" {
		return mode != "navigate"
	}
	accept := h.Get("Accept")
	return strings.Contains(accept, jsonType) && !strings.Contains(accept, "text/html")
}

// isHTMX: htmx asks for a part of a page, and follows its own kind of redirect.
func isHTMX(h http.Header) bool { return h.Get("HX-Request") == "true" }
