package latchkey

import (
	"net/url"
	"strings"

	"github.com/latchkeyhq/latchkey/jwt"
)

// The redirect proxy: a stable deployment whose address is registered with the
// providers, and which sends callbacks on to previews that are not.

// stateCodec seals the state parameter, which a proxy with the same secrets can read.
func (s *setup) stateCodec() *jwt.Codec { return s.states }

// sendOn is the address that a proxy sends a callback on to; empty: this
// callback is for us. Code and state go to listed origins only.
func (p *oauthProvider) sendOn(v *visit, state string, params url.Values) (string, error) {
	if !p.isProxy(v) {
		return "", nil
	}
	if state == "" {
		return "", errCheck(p, "a callback at the redirect proxy has no state")
	}
	target, err := v.stateOrigin(state)
	if err != nil && p.formPost() {
		return "", nil // those never begin elsewhere, so their state is compared, not opened
	}
	if err != nil {
		return "", errCheck(p, "the state is not one of ours, or too old")
	}
	if target == "" {
		return "", nil
	}
	u, err := url.Parse(target)
	if err != nil || !isHTTPURL(target) {
		return "", errCheck(p, "the state names no address")
	}
	to := newOrigin(u.Scheme, u.Host)
	switch {
	case to.text == v.origin.text:
		return "", nil
	case v.isPost():
		return "", errCheck(p, "a form_post callback cannot be sent on")
	case !v.proxies(to) || !strings.HasSuffix(u.Path, "/callback/"+p.ID):
		return "", errCheck(p, "the state names an origin that is not in RedirectProxyOrigins")
	}
	return withParams(target, params), nil
}

func withParams(target string, params url.Values) string {
	base, _, _ := strings.Cut(target, "?")
	base, _, _ = strings.Cut(base, "#")
	return base + "?" + params.Encode()
}

// proxies tells whether callbacks may be sent on to an origin.
func (v *visit) proxies(to origin) bool {
	if len(v.RedirectProxyOrigins) == 0 {
		return hostName(to) == hostName(v.origin)
	}
	for _, pattern := range v.RedirectProxyOrigins {
		scheme, host, ok := strings.Cut(pattern, "://")
		if ok && strings.HasPrefix(to.text, scheme+"://") && matchHost(host, to.host()) {
			return true
		}
	}
	return false
}

// hostName is the host without its port.
func hostName(o origin) string {
	u, err := url.Parse(o.text)
	if err != nil {
		return o.host()
	}
	return u.Hostname()
}
