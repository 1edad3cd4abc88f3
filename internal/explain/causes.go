package explain

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey/fault"
)

// CausesOf returns the causes of a failure, the one that the facts of the line point to
// first. A nil line has no facts.
func CausesOf(t *Text, l *Line) []string {
	if l == nil {
		return t.Causes
	}
	var first []string
	site, host := hostOf(l.Facts["site"]), strings.ToLower(l.Facts["host"])
	if isAboutFlow(t.Detail) && site != "" && host != "" && site != host {
		first = append(first, "The request came to "+host+", and the site is "+site+": cookies do not cross. Set AUTH_URL to the host that browsers use.")
	}
	if isAboutFlow(t.Detail) && strings.HasPrefix(l.Facts["origin"], "https:") && l.Facts["tls"] == "false" && l.Facts["site"] == "" {
		first = append(first, "A proxy says that browsers see the site over https. Set AUTH_URL, so that every request agrees.")
	}
	if headers, err := strconv.Atoi(l.Facts["headers"]); err == nil && headers > 7500 {
		first = append(first, "The headers of the request have "+strconv.Itoa(headers)+" bytes. Many proxies refuse more than 8 KiB: put less into the session.")
	}
	return append(first, t.Causes...)
}

// isAboutFlow reports whether a failure is about the cookies of a sign-in.
func isAboutFlow(d fault.Detail) bool {
	switch d {
	case fault.StateMissing, fault.StateNoCookies, fault.CookieUnreadable, fault.FlowIncomplete, fault.FlowRedirect, fault.CSRFMissing, fault.HostUnknown:
		return true
	}
	return false
}

// hostOf returns the host of a URL in lower case, with its port, or "".
func hostOf(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}
