package weburl_test

import (
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// TestResolveEscapes: a URL of the site is escaped however it spells the origin.
func TestResolveEscapes(t *testing.T) {
	for _, target := range []string{`/a"<x>`, `https://app.example/a"<x>`, `HTTPS://App.Example/a"<x>`, `https://app.example:443/a"<x>`} {
		got, err := weburl.Resolve(target, "https://app.example")
		if err != nil || !strings.HasSuffix(got, "/a%22%3Cx%3E") {
			t.Errorf("%s leads to %s, %v", target, got, err)
		}
	}
}

func TestShow(t *testing.T) {
	for s, want := range map[string]string{
		"":                                 "",
		"app.example":                      "app.example",
		"https://app.example/a":            "https://app.example/a",
		"https://user:secret@app.example":  "https://…@app.example",
		"https://user:se@cret@app.example": "https://…@app.example",
		"user:secret@app.example":          "…@app.example",
		"//user:secret@app.example":        "…@app.example",
		"https:user:secret@app.example":    "…@app.example",
		"user:secret://x@app.example":      "…@app.example",
	} {
		if got := weburl.Show(s); got != want {
			t.Errorf("Show(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestEscape(t *testing.T) {
	for s, want := range map[string]string{
		"":                   "",
		"/a?b=c%20d#é":       "/a?b=c%20d#é",
		"/ \x00\x1f\x7f":     "/%20%00%1F%7F",
		"\\\"`<é>":           "%5C%22%60%3Cé%3E",
		"/\u0080\u009f\xff ": "/\u0080\u009f\xff%20",
	} {
		if got := weburl.Escape(s); got != want {
			t.Errorf("Escape(%q) = %q, want %q", s, got, want)
		}
	}
}
