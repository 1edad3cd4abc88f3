package page

import (
	"crypto/rand"
	"net/url"
	"strings"
)

// policy is what one page needs beyond the policy all of them share.
type policy struct {
	secluded    bool     // the page's URL is secret: no other site may be asked for anything
	formOrigins []string // where a form of the page may lead besides the site itself and https
	nonce       string   // of the page's one script; empty: none runs
	clock       bool     // the page has the script that tells times
	atOnce      bool     // the page has the script that sends its form
}

// formTargets returns the sources that form-action lists, besides the site, for a page
// with a form. Chromium applies form-action to every redirect that follows a post, and
// blocks a redirect that is not listed without telling the user. A provider may pass the
// browser on to any host, and the application may land on another origin. So every https
// URL is allowed, and what an injected form could do is left to the escaping of the
// page.
func (p *policy) formTargets() []string { return append([]string{anyHTTPS}, p.formOrigins...) }

// policy returns the Content-Security-Policy of a page. hasForm says that the page has a
// form. The policy forbids everything first. It then allows the style by its hash and a
// script by a nonce or hash of its own, so that injected markup would neither run nor be
// styled.
func (l look) policy(p policy, hasForm bool) string {
	var b strings.Builder
	b.WriteString("default-src 'none'; style-src ")
	b.WriteString(l.styleHash)
	b.WriteString("; img-src 'self'")
	if l.logoSource != "" && !(p.secluded && l.foreign) {
		b.WriteByte(' ')
		b.WriteString(l.logoSource)
	}
	b.WriteString(" " + dataSource)
	if p.nonce != "" || p.clock {
		b.WriteString("; script-src")
	}
	if p.nonce != "" {
		b.WriteString(" 'nonce-" + p.nonce + "'")
	}
	if p.clock {
		b.WriteString(" " + clockHash)
	}
	if p.nonce != "" {
		b.WriteString("; connect-src 'self'")
	}
	if p.atOnce {
		b.WriteString("; script-src " + atOnceHash)
	}
	b.WriteString("; form-action 'self'")
	if hasForm {
		for _, origin := range sources(p.formTargets()) {
			b.WriteByte(' ')
			b.WriteString(origin)
		}
	}
	b.WriteString("; base-uri 'none'; frame-ancestors 'none'")
	return b.String()
}

// sources returns the origins that a policy can name, each once, in order. It leaves out
// an origin if its scheme alone, such as https:, comes before it.
func sources(origins []string) []string {
	kept := make([]string, 0, len(origins))
	seen := make(map[string]bool, len(origins))
	for _, raw := range origins {
		source, ok := Source(raw)
		scheme, _, _ := strings.Cut(source, "//")
		if ok && !seen[source] && !seen[scheme] {
			seen[source] = true
			kept = append(kept, source)
		}
	}
	return kept
}

const anyHTTPS = "https:"

// AnyHTTP stands for every http origin in a list of form origins, for sites that are
// served over http themselves.
const AnyHTTP = "http:"

// Source returns the origin of an http(s) URL in the form in which a
// Content-Security-Policy lists it. It returns false for anything a policy cannot
// name: other schemes, IPv6 literals, hosts with odd characters. The words "https:"
// and "http:" alone stand for every origin of the scheme.
func Source(raw string) (string, bool) {
	if raw == anyHTTPS || raw == AnyHTTP {
		return raw, true
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return "", false
	}
	host := strings.ToLower(u.Host)
	for _, c := range host {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789.-:", c) {
			return "", false
		}
	}
	return u.Scheme + "://" + host, true
}

// nonce returns a fresh nonce for a page with a script.
func nonce() string { return rand.Text() }
