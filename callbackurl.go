package latchkey

import (
	"context"
	"errors"
	"net/url"
	"strings"
)

// Where a visitor may be sent. Every address that leaves the library as a
// redirect to the application has passed through here.

// maxAddress bounds a callback address; it also has to fit into a cookie.
const maxAddress = 3 << 10

// validAddress is the syntax that a callback address must have before anybody
// looks at where it leads: a path, or an http(s) URL.
func validAddress(s string) bool {
	if strings.HasPrefix(s, "/") {
		return true
	}
	scheme, _, ok := strings.Cut(s, ":")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) && parses(s)
}

func parses(s string) bool {
	_, err := url.Parse(s)
	return err == nil && !hasControl(s)
}

// landing decides where to is allowed to lead, and returns an absolute address.
func (v *visit) landing(ctx context.Context, to string) (string, error) {
	decide := v.Callbacks.Redirect
	if decide == nil && to == v.origin.text { // nearly always
		return to, nil
	}
	if decide == nil {
		return defaultLanding(to, v.origin.text)
	}
	if !strings.HasPrefix(to, "/") && !parses(to) {
		return "", errNoAddress
	}
	chosen, err := containResult(func() (string, error) { return decide(ctx, to, v.origin.text) })
	if err != nil {
		return "", err
	}
	return v.checkChosen(chosen), nil
}

// checkChosen looks once more at what the application's callback returned: it
// may choose any host, but no other scheme and nothing that breaks a header.
func (v *visit) checkChosen(chosen string) string {
	switch {
	case strings.HasPrefix(chosen, "/"):
		return v.origin.text + escapeAddress(chosen)
	case isHTTPURL(chosen) && !strings.ContainsAny(chosen, "\\ "):
		return chosen
	}
	v.log.error(v, ErrInvalidCallbackURL.because(errNoAddress))
	return v.origin.text
}

var errNoAddress = errors.New("the callback address is no path and no http(s) URL")

// defaultLanding keeps paths and addresses of the same origin and replaces
// everything else by the origin. A path is glued to the origin, not resolved:
// so "//other.example" stays on this host whatever a browser makes of it.
func defaultLanding(to, base string) (string, error) {
	if len(to) > maxAddress {
		return base, nil
	}
	if strings.HasPrefix(to, "/") {
		return base + escapeAddress(to), nil
	}
	if rest, ok := strings.CutPrefix(to, base); ok && (rest == "" || strings.IndexByte("/?#", rest[0]) >= 0) {
		return base + escapeAddress(rest), nil
	}
	u, err := url.Parse(to)
	if err != nil || u.Scheme == "" {
		return "", errNoAddress
	}
	if u.User == nil && !strings.ContainsAny(to, "\\ \t\r\n") && !hasControl(to) && newOrigin(u.Scheme, u.Host).text == base {
		return to, nil
	}
	return base, nil
}

// escapeAddress percent-encodes what browsers and servers read differently.
func escapeAddress(s string) string {
	i := strings.IndexFunc(s, unsafeInAddress)
	if i < 0 {
		return s
	}
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	b.WriteString(s[:i])
	for ; i < len(s); i++ {
		if c := s[i]; unsafeInAddress(rune(c)) && c < 0x80 {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func unsafeInAddress(r rune) bool {
	return r <= 0x20 || r == 0x7f || r == '\\' || r == '"' || r == '<' || r == '>' || r == '`'
}

// withQuery appends parameters to an address of the application's own, keeping
// its query and fragment.
func withQuery(address string, params ...string) string {
	var b strings.Builder
	main, fragment, hasFragment := strings.Cut(address, "#")
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

// absolute makes an address of the application's own absolute.
func (v *visit) absolute(address string) string {
	if strings.HasPrefix(address, "/") {
		return v.origin.text + address
	}
	return address
}
