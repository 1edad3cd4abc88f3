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

// clockScript is what the script element holds; the policy lets it in by
// its hash.
var (
	clockScript = joined(clockSource)
	clockHash   = hashSource(clockScript)
)

// clock is the script that tells times as the reader does.
func clock() template.HTML {
	return template.HTML(`<script type="module">` + clockScript + "</script>")
}

// atOnce is the script that sends the page's one form.
func atOnce() template.HTML {
	return template.HTML("<script>" + atOnceScript + "</script>")
}

const atOnceScript = "HTMLFormElement.prototype.submit.call(document.forms[0])" // a field may be called submit

var atOnceHash = hashSource(atOnceScript)

// hashSource is what a policy calls an inline style or script.
func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// moment writes a time the same way in every language. Zone and clock of the
// browser are unknown, so it is UTC and says so.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// instant is the form of a time that machines read.
func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }
