package weburl

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// ErrInvalid reports a callback URL that is none.
var ErrInvalid = errors.New("the callback URL is no path and no http(s) URL")

// maxLength bounds a callback URL; it also has to fit into a cookie.
const maxLength = 3 << 10

// IsHTTP reports whether s is an absolute http(s) URL without user info and without
// control characters.
func IsHTTP(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && !HasControl(s)
}

// IsPath reports whether s begins with a slash and every browser reads it as a path on
// the site itself. A backslash or a control character anywhere makes it false.
func IsPath(s string) bool {
	return strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "//") && !strings.ContainsRune(s, '\\') && !HasControl(s)
}

// HasControl reports whether s has an ASCII control character. Browsers drop some of
// them, and servers must not send them.
func HasControl(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] == 0x7f {
			return true
		}
	}
	return false
}

// Show returns s for an error message, without the user info of a URL, which could be a
// password. If s has an "@", Show writes "…" for all that is before the last "@", except
// for a scheme and its "://".
func Show(s string) string {
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return s
	}
	hidden := "…" + s[at:]
	if scheme, _, ok := strings.Cut(s[:at], "://"); ok && !strings.Contains(scheme, ":") {
		return scheme + "://" + hidden
	}
	return hidden
}

// Valid reports whether s has the syntax of a callback URL: it begins with a slash, or is
// an http(s) URL. It does not look at where that leads: see [Resolve].
func Valid(s string) bool {
	if strings.HasPrefix(s, "/") {
		return true
	}
	scheme, _, ok := strings.Cut(s, ":")
	return ok && isHTTPScheme(scheme) && Parses(s)
}

// isHTTPScheme reports whether s is http or https, in any case.
func isHTTPScheme(s string) bool {
	return strings.EqualFold(s, "http") || strings.EqualFold(s, "https")
}

// Parses reports whether net/url parses s, s has no control characters and, if s is an
// http(s) URL, s has a host.
func Parses(s string) bool {
	_, err := url.Parse(s)
	return err == nil && !HasControl(s) && !lacksHost(s)
}

// lacksHost reports whether s is an http(s) URL in which browsers find no host, however
// many slashes there are (WHATWG URL 4.4, special authority states).
func lacksHost(s string) bool {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || !isHTTPScheme(scheme) {
		return false
	}
	authority := strings.TrimLeft(rest, `/\`)
	if i := strings.IndexAny(authority, `/\?#`); i >= 0 {
		authority = authority[:i]
	}
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	return host == "" || host[0] == ':'
}

// Resolve returns the URL on the site that target leads to. base is the origin of the
// site. A path, which begins with a slash, is appended to base, so that even
// "//other.example" stays on this host. A URL of base stays. Both are escaped as [Escape]
// does. Any other URL, and any text longer than maxLength, becomes base. The error is
// ErrInvalid if target is no path and no URL, such as the empty text.
func Resolve(target, base string) (string, error) {
	if len(target) > maxLength {
		return base, nil
	}
	if strings.HasPrefix(target, "/") {
		return base + Escape(target), nil
	}
	if rest, ok := strings.CutPrefix(target, base); ok && (rest == "" || strings.IndexByte("/?#", rest[0]) >= 0) {
		return base + Escape(rest), nil
	}
	u, err := url.Parse(target)
	if err != nil || u.Scheme == "" || lacksHost(target) {
		return "", ErrInvalid
	}
	if u.User == nil && !strings.ContainsAny(target, "\\ \t\r\n") && !HasControl(target) && NewOrigin(u.Scheme, u.Host).Text == base {
		return Escape(target), nil
	}
	return base, nil
}

// Escape percent-encodes spaces, ASCII control characters, backslashes, double quotes,
// backquotes and angle brackets, which browsers and servers read differently. It leaves
// everything else as it is, "%" and all that is not ASCII included.
func Escape(s string) string {
	if !strings.ContainsFunc(s, isUnsafe) {
		return s
	}
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if !isUnsafe(rune(c)) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}

// isUnsafe reports whether Escape encodes r. All such characters are ASCII, so that a
// byte above 0x7f, read as a rune, is not one of them.
func isUnsafe(r rune) bool {
	return r <= 0x20 || r == 0x7f || r == '\\' || r == '"' || r == '<' || r == '>' || r == '`'
}

// WithQuery returns target, a URL, with more parameters at the end of its query. params
// are names and values in turn; a last name without a value is left out. Parameters that
// target has already remain, also under the same names, and so does its fragment.
func WithQuery(target string, params ...string) string {
	var b strings.Builder
	main, fragment, hasFragment := strings.Cut(target, "#")
	b.WriteString(main)
	separator := byte('?')
	if strings.Contains(main, "?") {
		separator = '&'
	}
	for i := 0; i+1 < len(params); i += 2 {
		b.WriteByte(separator)
		b.WriteString(url.QueryEscape(params[i]) + "=" + url.QueryEscape(params[i+1]))
		separator = '&'
	}
	if hasFragment {
		b.WriteString("#" + fragment)
	}
	return b.String()
}

// SamePage reports whether two URLs are equal, as text, without their queries and
// without slashes at their end.
func SamePage(a, b string) bool {
	a, _, _ = strings.Cut(a, "?")
	b, _, _ = strings.Cut(b, "?")
	return strings.TrimRight(a, "/") == strings.TrimRight(b, "/")
}

// ReplaceQuery returns target with params as its whole query and without a fragment.
func ReplaceQuery(target string, params url.Values) string {
	base, _, _ := strings.Cut(target, "?")
	base, _, _ = strings.Cut(base, "#")
	return base + "?" + params.Encode()
}

// IsPage reports whether target, a URL, leads to the URL page. Without their queries, the two
// must be equal as text; one slash at the end makes no difference. target must have every
// parameter of page, with the same values, and may have more. Fragments do not count.
func IsPage(target, page string) bool {
	target, _, _ = strings.Cut(target, "#")
	page, _, _ = strings.Cut(page, "#")
	targetPath, targetQuery, _ := strings.Cut(target, "?")
	pagePath, pageQuery, _ := strings.Cut(page, "?")
	return strings.TrimSuffix(targetPath, "/") == strings.TrimSuffix(pagePath, "/") && HasQuery(targetQuery, pageQuery)
}

// HasQuery reports whether query has every parameter of wanted, with the same values. An
// empty wanted is always met. Otherwise HasQuery returns false if either cannot be read.
func HasQuery(query, wanted string) bool {
	if wanted == "" {
		return true
	}
	has, err := url.ParseQuery(query)
	wants, wrong := url.ParseQuery(wanted)
	if err != nil || wrong != nil {
		return false
	}
	for name, values := range wants {
		if !slices.Equal(has[name], values) {
			return false
		}
	}
	return true
}

// IsResolved reports whether browsers ask for a path as it is written: they read a
// backslash as a slash, and remove the segments "." and "..", also with an escaped dot
// (WHATWG URL 4.4, path state).
func IsResolved(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		switch strings.ReplaceAll(strings.ToLower(segment), "%2e", ".") {
		case ".", "..":
			return false
		}
	}
	return !strings.Contains(path, `\`)
}
