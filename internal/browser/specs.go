// Package browser has what a browser keeps for the site: the names, attributes
// and sealing of cookies, the pieces of a long session, the checks of sign-ins
// under way, and the credential that a request proves its session with. It knows
// neither users nor stores.
package browser

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/jwt"
)

// Specs are all cookies of a site that is served over http, or over https.
type Specs struct {
	Session, CallbackURL, CSRF, PKCE, State, Nonce, Challenge, Link, Known, Flash, Half, Lost, Logout, Hint, Tokens Spec

	former *Spec     // the session cookie before HostPrefix; nil: nothing to migrate
	until  time.Time // the end of former
}

// Spec is one cookie: its name, its attributes, and the codec if it is sealed. The
// name is the codec's salt.
type Spec struct {
	Codec    *jwt.Codec
	template http.Cookie
}

// Name returns the name of the cookie.
func (k *Spec) Name() string { return k.template.Name }

// New returns a cookie with the value, which must be escaped already. With a zero expires
// the cookie ends with the browser. A MaxAge of the operator's choice goes into the
// cookie too, and browsers prefer it to expires.
func (k *Spec) New(value string, expires time.Time) *http.Cookie {
	c := k.template
	c.Value, c.Expires = value, expires
	return &c
}

// Clear returns a cookie that makes the browser forget the one called name, which is k or
// a piece of it.
func (k *Spec) Clear(name string) *http.Cookie {
	c := k.template
	c.Name, c.MaxAge = name, -1
	return &c
}

// of returns the cookie that holds the values of c, which is one of the four checks.
func (s *Specs) of(c Check) *Spec {
	switch c {
	case PKCE:
		return &s.PKCE
	case State:
		return &s.State
	case Challenge:
		return &s.Challenge
	}
	return &s.Nonce
}

// Options are the operator's choices for all cookies. A zero CookieOptions keeps
// the defaults.
type Options struct {
	HostPrefix   bool
	MigrateUntil time.Time // sessions from before HostPrefix are read until then

	SessionToken, CallbackURL, CSRFToken, PKCE, State, Nonce, Challenge, Browser CookieOptions
}

// CookieOptions are the operator's choices for one cookie. A zero field keeps its
// default.
type CookieOptions struct {
	Name     string
	Domain   string
	Path     string
	SameSite http.SameSite
	Secure   *bool
	HTTPOnly *bool
	MaxAge   time.Duration
}

// NewSpecs returns the cookies of a site. secure says that the site is served over https.
// bind returns the tenant's own salt for a salt. The salts of session token and provider
// tokens are not bound: what these cookies seal names its tenant. The Codecs of CallbackURL,
// CSRF and Hint are not used. NewSpecs does not judge names and attributes: Check does.
func NewSpecs(o Options, secrets []string, secure bool, bind func(salt string) string) *Specs {
	prefix, csrfPrefix := "", ""
	if secure {
		prefix, csrfPrefix = "__Secure-", "__Host-"
		if o.HostPrefix {
			prefix = "__Host-"
		}
	}
	spec := func(prefix, name string, o CookieOptions) Spec {
		t := http.Cookie{Name: prefix + "authjs." + name, Path: "/", HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode}
		o.apply(&t)
		return Spec{template: t}
	}
	specs := &Specs{
		Session:     spec(prefix, "session-token", o.SessionToken),
		CallbackURL: spec(prefix, "callback-url", o.CallbackURL),
		CSRF:        spec(csrfPrefix, "csrf-token", o.CSRFToken),
		PKCE:        spec(prefix, "pkce.code_verifier", o.PKCE),
		State:       spec(prefix, "state", o.State),
		Nonce:       spec(prefix, "nonce", o.Nonce),
		Challenge:   spec(prefix, "challenge", o.Challenge),
		Link:        spec(prefix, "email-link", CookieOptions{}),
		Known:       spec(prefix, "browser", o.Browser),
		Flash:       spec(prefix, "notice", CookieOptions{}),
		Half:        spec(prefix, "pending", CookieOptions{}),
		Lost:        spec(prefix, "recovery", CookieOptions{}),
		Logout:      spec(prefix, "logout", CookieOptions{}),
		Hint:        spec(prefix, "logout-hint", CookieOptions{}),
		Tokens:      spec(prefix, "provider-tokens", CookieOptions{Domain: o.SessionToken.Domain, Path: o.SessionToken.Path, SameSite: o.SessionToken.SameSite, Secure: o.SessionToken.Secure, MaxAge: o.SessionToken.MaxAge}),
	}
	for _, k := range []*Spec{&specs.Session, &specs.CallbackURL, &specs.CSRF, &specs.Hint, &specs.Tokens} {
		k.Codec = jwt.NewCodec(secrets, k.Name())
	}
	for _, k := range []*Spec{&specs.PKCE, &specs.State, &specs.Nonce, &specs.Challenge, &specs.Link, &specs.Known, &specs.Flash, &specs.Half, &specs.Lost, &specs.Logout} {
		k.Codec = jwt.NewCodec(secrets, bind(k.Name()))
	}
	if secure && o.HostPrefix && o.SessionToken.Name == "" && !o.MigrateUntil.IsZero() {
		former := spec("__Secure-", "session-token", o.SessionToken)
		former.Codec = jwt.NewCodec(secrets, former.Name())
		specs.former, specs.until = &former, o.MigrateUntil
	}
	return specs
}

// apply overrides the defaults in c with the operator's choices.
func (o *CookieOptions) apply(c *http.Cookie) {
	fill.Override(&c.Name, o.Name)
	fill.Override(&c.Domain, o.Domain)
	fill.Override(&c.Path, o.Path)
	fill.Override(&c.SameSite, o.SameSite)
	fill.Override(&c.MaxAge, int(o.MaxAge/time.Second))
	if o.Secure != nil {
		c.Secure = *o.Secure
	}
	if o.HTTPOnly != nil {
		c.HttpOnly = *o.HTTPOnly
	}
}

// Check adds an ErrInvalidConfig to f for each cookie that browsers would refuse, and for
// each cookie with the name of another: names are salts, so a value would serve two
// purposes. The same cookies give the same errors in the same order. hosts are
// the names under which browsers may see the site, without a port; *.app.example is every
// name below app.example. Without hosts they are unknown, and Check compares no Domain
// with them.
func (s *Specs) Check(f *failure.List, hosts []string) {
	seen := map[string]string{}
	for _, k := range []struct {
		field string
		*Spec
	}{
		{"SessionToken", &s.Session},
		{"CallbackURL", &s.CallbackURL},
		{"CSRFToken", &s.CSRF},
		{"PKCE", &s.PKCE},
		{"State", &s.State},
		{"Nonce", &s.Nonce},
		{"Challenge", &s.Challenge},
		{"(magic link)", &s.Link},
		{"Browser", &s.Known},
		{"(notice)", &s.Flash},
		{"(second factor)", &s.Half},
		{"(recovery)", &s.Lost},
		{"(logout)", &s.Logout},
		{"(logout hint)", &s.Hint},
		{"(provider tokens)", &s.Tokens},
	} {
		field, t := k.field, k.template
		t.Value = "x"
		if err := t.Valid(); err != nil {
			f.Add(fault.ErrInvalidConfig, "Cookies.%s: %w", field, err)
		}
		if other, taken := seen[t.Name]; taken {
			f.Add(fault.ErrInvalidConfig, "Cookies.%s and Cookies.%s are both called %q", field, other, t.Name)
		}
		seen[t.Name] = field
		if option, cure := droppedFor(&t); option != "" {
			f.Add(fault.ErrInvalidConfig, "Cookies.%s.%s: browsers would drop %q; %s", field, option, t.Name, cure)
		} else if cure := domainFault(t.Domain, hosts); cure != "" {
			f.Add(fault.ErrInvalidConfig, "Cookies.%s.Domain %q: browsers would drop %q; %s", field, t.Domain, t.Name, cure)
		}
	}
}

// droppedFor returns the option for which browsers drop a cookie, and the cure, by
// RFC 6265bis, sections 4.1.2.7, 4.1.3 and 5.7. An empty option means that they keep
// it.
func droppedFor(c *http.Cookie) (option, cure string) {
	const makeSecure = "serve the site over https and say so in Site.URL, or set Cookies.Secure"
	switch {
	case strings.HasPrefix(c.Name, "__Host-") && (!c.Secure || c.Domain != "" || c.Path != "/"):
		return "Name", "one with __Host- must be Secure with Path / and no Domain: leave those as they are, or choose another name"
	case strings.HasPrefix(c.Name, "__Secure-") && !c.Secure:
		return "Name", "one with __Secure- must be Secure: " + makeSecure + ", or choose another name"
	case c.SameSite == http.SameSiteNoneMode && !c.Secure:
		return "SameSite", "a cookie with SameSite=None must be Secure: " + makeSecure + ", or leave SameSite as it is"
	case c.MaxAge < 0:
		return "MaxAge", "a negative lifetime removes a cookie: leave it out for the default"
	}
	return "", ""
}

// domainFault returns why browsers drop a cookie with the Domain domain, with the cure,
// by RFC 6265bis, section 5.7. It returns "" if they keep the cookie, if domain is empty,
// or if only browsers can know: they have the list of public suffixes. Without hosts it
// only judges the form of domain.
func domainFault(domain string, hosts []string) string {
	domain = strings.ToLower(strings.TrimPrefix(domain, "."))
	if domain == "" || slices.ContainsFunc(hosts, func(host string) bool { return strings.EqualFold(host, domain) }) {
		return ""
	}
	if !strings.Contains(domain, ".") || net.ParseIP(domain) != nil {
		return "want the name that the hosts share, such as app.example, or no Domain"
	}
	if len(hosts) == 0 || slices.ContainsFunc(hosts, func(host string) bool { return isWithin(strings.ToLower(host), domain) }) {
		return ""
	}
	return "the site is at " + strings.Join(hosts, ", ") + ", which is not below that name"
}

// isWithin reports whether a browser at host, or at a name that the pattern host
// stands for, may set a cookie for domain (RFC 6265bis, section 5.1.3).
func isWithin(host, domain string) bool {
	name, isPattern := strings.CutPrefix(host, "*.")
	if net.ParseIP(name) != nil {
		return name == domain
	}
	return name == domain || strings.HasSuffix(name, "."+domain) || isPattern && strings.HasSuffix(domain, "."+name)
}
