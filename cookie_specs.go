package latchkey

import (
	"net/http"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/jwt"
)

// cookieSpecs are all cookies that are ever set, for sites served over http or
// over https.
type cookieSpecs struct {
	session, callbackURL, csrf, pkce, state, nonce, challenge, link, browser, notice cookieSpec

	former *cookieSpec // the session cookie before HostPrefix; nil: nothing to migrate
	until  time.Time   // the end of former
}

// cookieSpec is one cookie: what it is called, its attributes, and the codec of
// those that are sealed. The name is the codec's salt.
type cookieSpec struct {
	template http.Cookie
	codec    *jwt.Codec
}

func (k *cookieSpec) name() string { return k.template.Name }

// make is a new cookie; a zero expires ends with the browser.
func (k *cookieSpec) make(value string, expires time.Time) *http.Cookie {
	c := k.template
	c.Value, c.Expires = value, expires
	return &c
}

// clear is a cookie that makes the browser forget the one called name.
func (k *cookieSpec) clear(name string) *http.Cookie {
	c := k.template
	c.Name, c.MaxAge = name, -1
	return &c
}

// ofCheck is the cookie that holds the values of a check.
func (s *cookieSpecs) ofCheck(c Check) *cookieSpec {
	switch c {
	case CheckPKCE:
		return &s.pkce
	case CheckState:
		return &s.state
	case checkChallenge:
		return &s.challenge
	}
	return &s.nonce
}

// newCookieSpecs names the cookies. bind makes the salts of one tenant's own; a
// session token says itself whose it is.
func newCookieSpecs(o Cookies, secrets []string, secure bool, bind func(salt string) string) *cookieSpecs {
	prefix, csrfPrefix := "", ""
	if secure {
		prefix, csrfPrefix = "__Secure-", "__Host-"
		if *o.HostPrefix {
			prefix = "__Host-"
		}
	}
	spec := func(prefix, name string, o CookieOptions) cookieSpec {
		t := http.Cookie{Name: prefix + "authjs." + name, Path: "/", HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode}
		o.apply(&t)
		return cookieSpec{t, jwt.NewCodec(secrets, t.Name)}
	}
	specs := &cookieSpecs{
		session:     spec(prefix, "session-token", o.SessionToken),
		callbackURL: spec(prefix, "callback-url", o.CallbackURL),
		csrf:        spec(csrfPrefix, "csrf-token", o.CSRFToken),
		pkce:        spec(prefix, "pkce.code_verifier", o.PKCE),
		state:       spec(prefix, "state", o.State),
		nonce:       spec(prefix, "nonce", o.Nonce),
		challenge:   spec(prefix, "challenge", o.Challenge),
		link:        spec(prefix, "email-link", CookieOptions{}),
		browser:     spec(prefix, "browser", o.Browser),
		notice:      spec(prefix, "notice", CookieOptions{}),
	}
	for _, k := range []*cookieSpec{&specs.pkce, &specs.state, &specs.nonce, &specs.challenge, &specs.link, &specs.browser, &specs.notice} {
		k.codec = jwt.NewCodec(secrets, bind(k.name()))
	}
	if secure && *o.HostPrefix && o.SessionToken.Name == "" && !o.MigrateUntil.IsZero() {
		former := spec("__Secure-", "session-token", o.SessionToken)
		specs.former, specs.until = &former, o.MigrateUntil
	}
	return specs
}

// apply puts the operator's choices over the defaults.
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

// check refuses names that browsers refuse, and two cookies of one name: names
// are salts, so a value would serve two purposes.
func (s *cookieSpecs) check(f *failure.List) {
	seen := map[string]string{}
	for field, k := range map[string]*cookieSpec{
		"SessionToken": &s.session, "CallbackURL": &s.callbackURL, "CSRFToken": &s.csrf,
		"PKCE": &s.pkce, "State": &s.state, "Nonce": &s.nonce, "Challenge": &s.challenge, "(magic link)": &s.link, "Browser": &s.browser, "(notice)": &s.notice,
	} {
		t := k.template
		t.Value = "x"
		if err := t.Valid(); err != nil {
			f.Add(ErrInvalidConfig, "Cookies.%s: %w", field, err)
		}
		if other, taken := seen[t.Name]; taken {
			f.Add(ErrInvalidConfig, "Cookies.%s and Cookies.%s are both called %q", field, other, t.Name)
		}
		seen[t.Name] = field
		if option, cure := droppedFor(&t); option != "" {
			f.Add(ErrInvalidConfig, "Cookies.%s.%s: browsers would drop %q; %s", field, option, t.Name, cure)
		}
	}
}

// droppedFor names the option for which browsers drop a cookie, and the cure, by
// the rules of RFC 6265bis, sections 4.1.2.7 and 4.1.3; empty: they keep it.
func droppedFor(c *http.Cookie) (option, cure string) {
	const makeSecure = "serve the site over https and say so in Site.URL, or set Cookies.Secure"
	switch {
	case strings.HasPrefix(c.Name, "__Host-") && (!c.Secure || c.Domain != "" || c.Path != "/"):
		return "Name", "one with __Host- must be Secure with Path / and no Domain: leave those as they are, or choose another name"
	case strings.HasPrefix(c.Name, "__Secure-") && !c.Secure:
		return "Name", "one with __Secure- must be Secure: " + makeSecure + ", or choose another name"
	case c.SameSite == http.SameSiteNoneMode && !c.Secure:
		return "SameSite", "a cookie with SameSite=None must be Secure: " + makeSecure + ", or leave SameSite as it is"
	}
	return "", ""
}
