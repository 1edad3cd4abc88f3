package ui

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

//go:embed style.css
var style string

// CSS returns a small style sheet for the components. It leaves the font to the
// page; colours and roundness are variables such as --latchkey-accent.
func CSS() string { return style }

// Stylesheet serves [CSS], for a link element of the page. Browsers ask each time
// whether it has changed.
func Stylesheet() http.Handler {
	sum := sha256.Sum256([]byte(style))
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/css; charset=utf-8")
		h.Set("Cache-Control", "no-cache")
		h.Set("Etag", tag)
		h.Set("X-Content-Type-Options", "nosniff")
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(style))
	})
}
