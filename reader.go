package latchkey

import (
	"net/http"
	"strings"
)

// Who reads an answer: a person, in a browser that opens a page, or a script.

// opensPage reports whether a browser is about to show the answer to a person.
// Browsers say so (Fetch Metadata, section 2.2); old ones, and those of sites
// on plain http, ask for HTML at least.
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

// isScript reports whether a script asks, which could not tell a page from what it asked
// for: a part of a page, a socket, a stream of events, or JSON. A browser that opens a
// page is no script, whatever else it sends (a WebView of Android names its app in
// X-Requested-With, and a proxy may ask every visitor for a password). isScript is for
// guards, which know no form: asksForJSON is for the answer to one, and
// exchange.wantsJSON for clients of Auth.js.
func isScript(h http.Header) bool {
	if isHTMX(h) || strings.EqualFold(h.Get("Upgrade"), "websocket") {
		return true
	}
	if mode := h.Get("Sec-Fetch-Mode"); mode != "" {
		return mode != "navigate"
	}
	if strings.EqualFold(h.Get("X-Requested-With"), "XMLHttpRequest") {
		return true
	}
	accept, given := h.Get("Accept"), h["Authorization"]
	if strings.Contains(accept, "text/html") {
		return false
	}
	return strings.Contains(accept, jsonType) || strings.Contains(accept, "text/event-stream") || len(given) > 0
}

// isHTMX reports whether htmx asks for a part of a page. htmx follows a redirect of its
// own kind, Hx-Redirect.
func isHTMX(h http.Header) bool { return h.Get("HX-Request") == "true" }

// asksForJSON reports whether a script sent the form and reads the result itself. The script
// says so by X-Auth-Return-Redirect, by Accept, or by a body of JSON. Unlike isScript it takes
// htmx without that header for a browser.
func asksForJSON(r *Request) bool {
	if _, asked := r.Header["X-Auth-Return-Redirect"]; asked {
		return true
	}
	if isHTMX(r.Header) {
		return false
	}
	accept := r.Header.Get("Accept")
	if strings.Contains(accept, jsonType) && !strings.Contains(accept, "text/html") {
		return true
	}
	return mediaType(r.Header.Get("Content-Type")) == jsonType && !opensPage(r.Header)
}
