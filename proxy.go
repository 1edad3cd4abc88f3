package latchkey

import (
	"net/url"
	"strings"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// The redirect proxy: a stable deployment whose URL is registered with the
// providers, and which sends callbacks on to previews that are not.

// sendOn returns the URL to which this deployment, as a redirect proxy, sends a callback
// on. It returns "" if this deployment is no proxy, or if the callback is its own. Code
// and state go to listed origins only. It returns ErrInvalidCheck if the state is
// missing, or names no URL or an origin that is not listed, and for a post that another
// deployment should get. If the state cannot be opened, it returns ErrInvalidCheck too,
// but "" with form_post: such a state was always made by this deployment.
func (p *oauthProvider) sendOn(l *links, isPost bool, state string, params url.Values) (string, error) {
	if !p.isRedirectProxy(l.origin) {
		return "", nil
	}
	if state == "" {
		return "", errCheck(p, fault.StateMissing, "a callback at the redirect proxy has no state")
	}
	target, err := p.setup.stateOrigin(state)
	if err != nil && p.postsCrossSite() {
		return "", nil // those never begin elsewhere, so their state is compared, not opened
	}
	if err != nil {
		return "", errCheck(p, fault.StateMissing, "the state is not one of ours, or too old")
	}
	if target == "" {
		return "", nil
	}
	u, err := url.Parse(target)
	if err != nil || !weburl.IsHTTP(target) {
		return "", errCheck(p, fault.FlowOrigin, "the state names no URL")
	}
	switch {
	case weburl.NewOrigin(u.Scheme, u.Host).Text == l.origin.Text:
		return "", nil
	case isPost:
		return "", errCheck(p, fault.FlowMode, "a form_post callback cannot be sent on")
	case acceptedTarget(p, l, target, "/callback/") == "":
		return "", errCheck(p, fault.FlowOrigin, "the state names an origin that is not in RedirectProxyOrigins")
	}
	return weburl.ReplaceQuery(target, params), nil
}

// acceptedTarget returns target if a proxy may send a browser there: a route of the provider at
// another origin that is accepted. It returns "" otherwise.
func acceptedTarget(p *oauthProvider, l *links, target, route string) string {
	u, err := url.Parse(target)
	if err != nil || !weburl.IsHTTP(target) {
		return ""
	}
	to := weburl.NewOrigin(u.Scheme, u.Host)
	if to.Text == l.origin.Text || !p.setup.trust.maySendOn(l.origin, to) || !strings.HasSuffix(u.Path, route+p.ID) {
		return ""
	}
	return target
}

// redirectURIs returns where the provider sends the browser back to, and, if that is the
// proxy, where the proxy sends it on to, else "".
func (p *oauthProvider) redirectURIs(l *links) (redirectURI, origin string) {
	own := l.url("callback/" + p.ID)
	if p.proxied == "" || p.postsCrossSite() || p.isRedirectProxy(l.origin) {
		return own, ""
	}
	return p.proxied + "/callback/" + p.ID, own
}

// isRedirectProxy reports whether this deployment, at origin o, is the proxy itself.
func (p *oauthProvider) isRedirectProxy(o weburl.Origin) bool {
	u, err := url.Parse(p.proxied)
	return p.proxied != "" && err == nil && weburl.NewOrigin(u.Scheme, u.Host).Text == o.Text
}

// maySendOn reports whether the proxy at the origin from may send callbacks on to the
// origin to. If RedirectProxyOrigins is empty, to must have the host name of from, with https
// and its usual port; on a loopback host, any scheme and port will do.
func (t *hostTrust) maySendOn(from, to weburl.Origin) bool {
	if len(t.RedirectProxyOrigins) == 0 {
		usual := to.Secure && to.Host() == to.HostName() || weburl.IsLoopback(to.Host())
		return usual && to.HostName() == from.HostName()
	}
	for _, pattern := range t.RedirectProxyOrigins {
		if to.Matches(pattern) {
			return true
		}
	}
	return false
}
