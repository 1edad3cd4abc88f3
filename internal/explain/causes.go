package explain

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey/fault"
)

// CausesOf returns the causes of a failure: first those that the error and the facts of the
// line point to, and then the rest of t.Causes. In all of them AUTH_<ID>_ becomes the prefix
// of the line's provider, such as AUTH_GITHUB_. For a nil line it returns t.Causes itself,
// which the caller must not change.
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
	if l.Limited > 1 && l.Client != "" {
		first = append(first, "All "+strconv.Itoa(l.Limited)+" lines of the log about limits have the client "+l.Client+". If that is your proxy, the site does not believe what it says of visitors: set `Site.TrustedProxies` to its network.")
	}
	if t.Detail == fault.StateNoCookies && l.Facts["cookies"] == "" && site != "" && site == host && strings.HasPrefix(l.Facts["site"], "https:") && l.Facts["origin"] == l.Facts["site"] {
		first = append(first, "The request came to the right host over https, without any cookie of the site: a proxy removes `Set-Cookie`, or the browser blocks cookies. `latchkey doctor --site "+l.Facts["site"]+"` says whether it is the proxy.")
	}
	cookies, wrong := l.Facts["cookies"], strings.ToLower(l.Error)
	switch {
	case t.Detail == fault.CSRFMissing && strings.Contains(cookies, "csrf-token"):
		first = append(first, "The cookie came. So the form lacks `csrfToken`, or the cookie was made with another secret. `latchkey doctor --site URL` says whether instances differ.")
	case t.Detail == fault.StoreAway && (strings.Contains(wrong, "readonly") || strings.Contains(wrong, "read only") || strings.Contains(wrong, "read-only")):
		first = append(first, replicaCause)
	case t.Detail == fault.MailFailed && strings.Contains(wrong, "mail from"):
		first = append(first, senderCause)
	}
	return named(append(first, without(t.Causes, first)...), l)
}

// Causes that the error or the facts of a line may prove.
const (
	replicaCause = "The program talks to a replica, which takes no writes (`READONLY`). That passes only after a failover: give the program the address of the primary."
	secretsCause = "Instances have different secrets, or the secret was replaced."
	senderCause  = "The mail server refuses the sender (`MAIL FROM`, status 550): send from an address of a domain that it may send for."
)

// without returns the texts that are not in gone.
func without(texts, gone []string) (rest []string) {
	for _, text := range texts {
		if !slices.Contains(gone, text) {
			rest = append(rest, text)
		}
	}
	return rest
}

// CureOf returns the cure of a failure, in which AUTH_<ID>_ becomes AUTH_GITHUB_ if the
// provider of the line is github. For a nil line, and a line without a provider, it
// returns t.Cure as it is.
func CureOf(t *Text, l *Line) string { return named([]string{t.Cure}, l)[0] }

// named returns texts with AUTH_<ID>_ replaced by the name that belongs to the provider
// of the line. It returns texts as they are if l is nil or has no id of a provider.
func named(texts []string, l *Line) []string {
	if l == nil || !isID(l.Provider) {
		return texts
	}
	stem := strings.ToUpper(strings.ReplaceAll(l.Provider, "-", "_"))
	var all []string
	for _, text := range texts {
		all = append(all, strings.ReplaceAll(text, "AUTH_<ID>_", "AUTH_"+stem+"_"))
	}
	return all
}

// isID reports whether text has the form of a provider's id: 1 to 64 ASCII letters,
// digits, hyphens and underscores. It does not look whether there is such a provider.
// text comes from a log and is untrusted.
func isID(text string) bool {
	return text != "" && len(text) <= 64 && strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
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
