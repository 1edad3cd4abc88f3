package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"time"
)

//go:embed clock.js
var clockSource string

// clockScript is the content of the script element. The policy allows it by its
// hash.
var (
	clockScript = joined(clockSource)
	clockHash   = hashSource(clockScript)
)

// clock returns the script element that shows times in the zone and format of the
// browser.
func clock() template.HTML {
	return template.HTML(`<script type="module">` + clockScript + "</script>")
}

// atOnce returns the script element that sends the page's one form.
func atOnce() template.HTML {
	return template.HTML("<script>" + atOnceScript + "</script>")
}

const atOnceScript = "HTMLFormElement.prototype.submit.call(document.forms[0])" // a field may be called submit

var atOnceHash = hashSource(atOnceScript)

// hashSource returns the hash source by which a policy allows an inline style or
// script.
func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// moment formats a time the same way in every language. The browser's zone and
// format are unknown, so it writes UTC and says so.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// instant formats a time for the datetime attribute (RFC 3339).
func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }
