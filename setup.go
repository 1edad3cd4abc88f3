package latchkey

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/jwt"
)

const (
	defaultBasePath   = "/auth"
	defaultMaxAge     = 30 * 24 * time.Hour
	defaultUpdateAge  = 24 * time.Hour
	checkMaxAge       = 15 * time.Minute // of state, PKCE and nonce cookies
	shortestSecret    = 32
	minSessionToken   = 32
	absoluteCap       = 30 * 24 * time.Hour
	defaultStoreLimit = 10 * time.Second
)

// setup is a Config made ready: defaults filled in, checked, indexed. It never
// changes afterwards, so any number of requests may read it.
type setup struct {
	Config
	givenBasePath string // before the environment had a say

	order     []provider // as configured
	providers map[string]provider

	site     origin // the public address; empty: each request says
	cookies  [2]*cookieSet
	states   *jwt.Codec // seals the state parameter
	secret   string     // all secrets, as hashes are made over them
	suffixes []string   // what CSRF hashes of before a rotation end in
	store    *store     // nil: no database
	sessions sessionKeeper
	pages    *page.Renderer
	log      *journal
	now      func() time.Time
	once     OneTimeStore
	limiter  *limits

	revocations          RevocationStore
	revocationsInAdapter bool // they are the Adapter's own, so they can be part of a transaction
}

// prepare makes c ready. What it returns is never nil: with an error it is good
// enough to answer every request with that error.
func prepare(c Config, getenv func(string) string) (*setup, error) {
	s := &setup{Config: c.WithEnv(getenv), givenBasePath: c.BasePath}
	s.copyLists()
	s.fillDefaults()
	var faults faults
	s.settleAddress(&faults)
	s.settleSecrets(&faults)
	s.checkLimits(&faults)
	s.settleCookies(&faults)
	s.settlePages(&faults)
	s.settleSessions(&faults)
	s.settleProviders(&faults, getenv)
	s.checkAbilities(&faults)
	return s, errors.Join(faults...)
}

// faults gathers everything that is wrong with a configuration.
type faults []error

func (f *faults) add(t ErrorType, format string, args ...any) {
	*f = append(*f, t.because(fmt.Errorf(format, args...)))
}

// copyLists lets go of what the caller could change later.
func (s *setup) copyLists() {
	s.Config.Providers = slices.Clone(s.Config.Providers)
	s.Secrets = slices.Clone(s.Secrets)
	s.AllowedHosts = slices.Clone(s.AllowedHosts)
	s.TrustedProxies = slices.Clone(s.TrustedProxies)
	s.RedirectProxyOrigins = slices.Clone(s.RedirectProxyOrigins)
}

func (s *setup) fillDefaults() {
	if s.now = s.Time; s.now == nil {
		s.now = time.Now
	}
	s.log = newJournal(s)
	if s.HTTPClient == nil {
		s.HTTPClient = newHTTPClient()
	}
	setDefault(&s.Session.MaxAge, defaultMaxAge)
	setDefault(&s.Session.UpdateAge, defaultUpdateAge)
	setDefault(&s.JWT.MaxAge, s.Session.MaxAge)
	setDefault(&s.Limits.Store, defaultStoreLimit)
	setDefault(&s.Limits.Call, 5*time.Second)
	setDefault(&s.Limits.Callback, 10*time.Second)
	setDefault(&s.Limits.Body, defaultBodyLimit)
	setDefault(&s.Limits.Upstream, 1<<20)
	if s.Hardened {
		setDefault(&s.Session.AbsoluteMaxAge, absoluteCap)
		s.Cookies.HostPrefix, s.RefuseSameSite, s.StrictSignOut = true, true, true
	}
	if s.SkipCSRFCheck {
		s.log.warn("SkipCSRFCheck: forms of other sites can act for your visitors, unless you check them yourself")
	}
	if s.Limits.Disabled {
		s.log.warn("Limits.Disabled: passwords can be guessed and mailboxes flooded without end")
	}
	if readable := s.Cookies.SessionToken.HTTPOnly; readable != nil && !*readable {
		s.log.warn("Cookies.SessionToken.HTTPOnly is off: any script on the site can take the session away")
	}
	if s.Adapter != nil {
		s.store = &store{a: s.Adapter, limit: s.Limits.Store}
	}
	if s.once = s.Limits.UsedOnce; s.once == nil {
		s.once = newUsedValues(s.now)
	}
	s.limiter = newLimits(s)
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// newHTTPClient is what calls to providers go through when the configuration
// has no client: the standard transport, with limits.
func newHTTPClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxResponseHeaderBytes = 64 << 10
	t.MaxIdleConnsPerHost = 16
	t.DialContext = (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	return &http.Client{Transport: t}
}

// settleAddress decides where the site lives and whom to believe about it.
func (s *setup) settleAddress(f *faults) {
	if s.URL != "" {
		u, err := url.Parse(s.URL)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
			f.add(ErrInvalidConfig, "URL (AUTH_URL) %q: want an absolute http or https address such as https://app.example", showURL(s.URL))
		} else {
			s.site = newOrigin(u.Scheme, u.Host)
			s.compareBasePath(u)
		}
	}
	s.BasePath = strings.TrimRight(s.BasePath, "/")
	if !validBasePath(s.BasePath) {
		f.add(ErrInvalidConfig, "BasePath %q: want a plain path such as /auth", s.BasePath)
		s.BasePath = defaultBasePath
	}
	if s.site.text == "" && !s.TrustHost && len(s.AllowedHosts) == 0 {
		f.add(ErrUntrustedHost, "set URL (AUTH_URL) to the site's address, or TrustHost (AUTH_TRUST_HOST=true) behind a proxy that sets the Host header")
	}
	for _, host := range s.AllowedHosts {
		if !validHost(strings.TrimPrefix(host, "*.")) && host != "*" {
			f.add(ErrInvalidConfig, "AllowedHosts: %q: want a host such as app.example, or *.preview.example", host)
		}
	}
	for _, o := range s.RedirectProxyOrigins {
		if scheme, host, ok := strings.Cut(o, "://"); !ok || (scheme != "https" && scheme != "http") || !validHost(strings.TrimPrefix(host, "*.")) {
			f.add(ErrInvalidConfig, "RedirectProxyOrigins: %q: want an origin such as https://*.preview.example", o)
		}
	}
	if slices.Contains(s.AllowedHosts, "*") {
		s.log.warn("AllowedHosts contains *: links are made for whatever host a request names")
	}
	if s.RedirectProxyURL != "" && !isHTTPURL(s.RedirectProxyURL) {
		f.add(ErrInvalidConfig, "RedirectProxyURL %q: want the proxy's base path URL such as https://app.example/auth", showURL(s.RedirectProxyURL))
	}
}

// compareBasePath warns when the address and the configuration both name a base path.
func (s *setup) compareBasePath(u *url.URL) {
	given, named := strings.TrimRight(s.givenBasePath, "/"), strings.TrimRight(u.Path, "/")
	switch {
	case given == "" || named == "":
	case given == named:
		s.log.warn("env-url-basepath-redundant: BasePath repeats the path of URL (AUTH_URL)")
	default:
		s.log.warn("env-url-basepath-mismatch: BasePath differs from the path of URL (AUTH_URL) and wins")
	}
}

// validBasePath accepts a path that browsers ask for exactly as it is written.
func validBasePath(p string) bool {
	u, err := url.Parse(p)
	return err == nil && u.EscapedPath() == p && strings.HasPrefix(p, "/") && path.Clean(p) == p && !strings.ContainsAny(p, "?#%\\ \t\r\n") && p != "/"
}

// settleSecrets refuses what is no secret.
func (s *setup) settleSecrets(f *faults) {
	if len(s.Secrets) == 0 {
		f.add(ErrMissingSecret, "set AUTH_SECRET (or Config.Secrets) to the output of: openssl rand -base64 33")
	}
	for i, secret := range s.Secrets {
		switch {
		case strings.TrimSpace(secret) == "" || slices.Contains(placeholders, strings.ToLower(strings.TrimSpace(secret))):
			f.add(ErrMissingSecret, "Secrets[%d] is empty or a published placeholder: use the output of: openssl rand -base64 33", i)
		case len(secret) >= shortestSecret:
		case s.Hardened:
			f.add(ErrMissingSecret, "Secrets[%d] has fewer than %d characters, which Hardened does not accept: use the output of: openssl rand -base64 33", i, shortestSecret)
		default:
			s.log.warn("a secret has fewer than 32 characters and may be guessed: use the output of openssl rand -base64 33")
		}
	}
	s.secret = strings.Join(s.Secrets, ",")
	for i := range s.Secrets {
		s.suffixes = append(s.suffixes, strings.Join(s.Secrets[i:], ","))
	}
}

// placeholders stand in tutorials and templates.
var placeholders = []string{"secret", "changeme", "change-me", "change_me", "your-secret", "your_secret", "yoursecret", "mysecret", "my-secret", "supersecret", "super-secret", "your-secret-here", "your_secret_here", "replace-me", "replaceme", "password", "development", "auth_secret", "nextauth_secret", "xxx", "todo"}

// settlePages checks the application's own pages and makes the built-in ones.
func (s *setup) settlePages(f *faults) {
	for _, p := range []struct{ field, value string }{
		{"SignIn", s.Pages.SignIn},
		{"SignOut", s.Pages.SignOut},
		{"Error", s.Pages.Error},
		{"VerifyRequest", s.Pages.VerifyRequest},
		{"NewUser", s.Pages.NewUser},
	} {
		if path, _, _ := strings.Cut(p.value, "?"); path == s.BasePath || strings.HasPrefix(path, s.BasePath+"/") {
			f.add(ErrInvalidConfig, "Pages.%s %q lies below BasePath, where the built-in pages are: the redirect would never end", p.field, p.value)
		}
		if p.value != "" && !isHTTPURL(p.value) && !isPath(p.value) {
			f.add(ErrInvalidConfig, "Pages.%s %q: want a path such as /welcome or an http(s) address", p.field, showURL(p.value))
		}
	}
	var err error
	if s.pages, err = page.New(pageOptions(s.Theme)); err != nil {
		f.add(ErrInvalidConfig, "Theme: %w", err)
		s.pages, _ = page.New(page.Options{}) // the defaults are known to be good
	}
}

func (s *setup) settleSessions(f *faults) {
	if s.Session.Strategy == "" {
		s.Session.Strategy = JWTSessions
		if s.Adapter != nil {
			s.Session.Strategy = DatabaseSessions
		}
	}
	if s.Session.MaxAge < time.Second || s.JWT.MaxAge < time.Second {
		f.add(ErrInvalidConfig, "Session.MaxAge and JWT.MaxAge: want at least one second, or zero for 30 days")
	}
	if s.Session.AbsoluteMaxAge < 0 {
		f.add(ErrInvalidConfig, "Session.AbsoluteMaxAge must not be negative; zero is no limit")
	}
	if s.Session.UpdateAge >= s.Session.MaxAge && s.Session.Strategy == DatabaseSessions {
		s.log.warn("Session.UpdateAge is not shorter than Session.MaxAge: stored sessions end before they are ever extended")
	}
	if (s.JWT.Encode == nil) != (s.JWT.Decode == nil) {
		f.add(ErrInvalidConfig, "JWT: set both Encode and Decode, or none")
	}
	switch s.Session.Strategy {
	case JWTSessions:
		s.revocations = s.Session.Revocations
		if own, ok := s.Adapter.(RevocationStore); ok && s.revocations == nil && s.Hardened {
			s.revocations = own
		}
		own, ok := s.Adapter.(RevocationStore)
		s.revocationsInAdapter = ok && s.revocations != nil && sameStore(own, s.revocations)
		s.sessions = newTokenKeeper(s)
	case DatabaseSessions:
		s.sessions = newRowKeeper(s)
	default:
		f.add(ErrUnsupportedStrategy, "Session.Strategy %q: want %q or %q", s.Session.Strategy, JWTSessions, DatabaseSessions)
		s.sessions = newTokenKeeper(s)
	}
	if s.Session.NewToken != nil && len(s.Session.NewToken()) < minSessionToken {
		f.add(ErrInvalidConfig, "Session.NewToken: its tokens must have at least %d characters", minSessionToken)
	}
}

func (s *setup) settleProviders(f *faults, getenv func(string) string) {
	s.providers = make(map[string]provider, len(s.Config.Providers))
	for i, given := range s.Config.Providers {
		if isNil(given) {
			f.add(ErrInvalidProvider, "Providers[%d] is nil", i)
			continue
		}
		p, err := given.prepare(s, getenv)
		if err != nil {
			*f = append(*f, err)
		}
		if p == nil {
			continue
		}
		id := p.info().id
		if !validProviderID(id) {
			f.add(ErrInvalidProvider, "Providers[%d]: id %q: want letters, digits, and - _ . only", i, id)
			continue
		}
		if _, taken := s.providers[id]; taken {
			f.add(ErrInvalidProvider, "Providers[%d]: id %q is used twice", i, id)
			continue
		}
		s.providers[id] = p
		s.order = append(s.order, p)
	}
}

// isNil is true for a nil pointer in the interface as well.
func isNil(p Provider) bool {
	switch p := p.(type) {
	case *OAuth:
		return p == nil
	case *Email:
		return p == nil
	case *Credentials:
		return p == nil
	}
	return true
}

func validProviderID(id string) bool {
	if id == "" || len(id) > 64 || id == "undefined" || strings.Trim(id, ".") == "" {
		return false
	}
	return strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// path is the address of a route below the base path.
func (s *setup) path(action string) string { return s.BasePath + "/" + action }

// defaultLogger is where the log goes when the configuration has none.
func defaultLogger(c *Config) *slog.Logger {
	switch {
	case c.Logger != nil:
		return c.Logger
	case c.Debug:
		return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return slog.Default()
}

// background is for work that must outlive the request that asked for it.
func background(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}
