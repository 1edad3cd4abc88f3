package latchkey

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/audit"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/explain"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/health"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/internal/later"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/people"
	"github.com/latchkeyhq/latchkey/internal/weburl"
	"github.com/latchkeyhq/latchkey/internal/words"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/telemetry"
)

const (
	defaultMaxAge       = 30 * 24 * time.Hour
	defaultUpdateAge    = 24 * time.Hour
	defaultStoreTime    = 10 * time.Second
	defaultCallTime     = 5 * time.Second
	defaultCallbackTime = 10 * time.Second
	defaultHookTime     = 10 * time.Second
	defaultMailTime     = 10 * time.Second
	defaultEventTime    = 5 * time.Second
	defaultUpstream     = 1 << 20
	minSessionToken     = 32
)

// common is what outlives one setup of many. The zero value: nothing does.
type common struct {
	issuers *oauth.Shared       // what is known of providers
	limiter *limit.Memory       // counts where no store does
	replay  storage.ReplayStore // remembers where no store does
	recent  *limit.Recent       // what was shown lately
	later   *later.Pool         // runs what follows an answer
}

// prepare makes c ready for a tenant; empty: there is one site. The setup is never nil:
// with an error it can answer every request with that error. What shared has outlives the
// setup.
func prepare(c Config, tenant string, shared common) (*setup, error) {
	s := &setup{config: c.inEnv(), tenant: tenant, issuers: shared.issuers}
	s.copyLists()
	for _, given := range s.config.Providers {
		switch p := given.(type) {
		case *Password:
			s.config.passwords++
		case *OAuth:
			if p != nil {
				s.config.logouts.add(&p.Logout)
			}
		}
	}
	s.config.harden()
	if s.config.Runtime.HTTPClient == nil {
		s.ownClient = newHTTPClient()
		s.config.Runtime.HTTPClient = s.ownClient
	}
	s.config.fillDefaults()
	s.now = s.config.Runtime.Time
	s.log = journal.New(loggerOf(&s.config.Runtime), s.now, logRules)
	s.log.Trace(s.config.Operations.Tracer)
	s.started, s.health = s.now(), health.NewBoard()
	s.warnOfLooseness()
	var faults failure.List
	s.prepareSite(&faults, strings.TrimRight(c.givenBasePath(), "/"))
	s.prepareSecrets(&faults)
	s.codes = explain.NewCodec(s.config.Secrets)
	s.log.Refer(func(d fault.Detail) string { return s.codes.Make(d, s.now()) })
	s.prepareCookies(&faults)
	s.preparePages(&faults)
	s.prepareStores(&faults, shared)
	s.prepareSessions(&faults)
	s.prepareProviders(&faults)
	s.mails = &mails{
		mail: mailOf(s), limits: s.limits, log: s.log, timeout: s.config.Limits.MailTimeout, theme: s.config.Theme, texts: s.config.Texts,
		secrets: s.secrets(), pool: cmp.Or(shared.later, new(later.Pool)), background: s.config.Runtime.Background, health: &s.health.Mail,
	}
	prepareAudit(s, &faults)
	s.prepareDirectory(&faults)
	prepareActing(s, &faults)
	prepareVault(s, &faults)
	prepareLogout(s, &faults)
	s.warnOfOneClient()
	s.links = links{base: s.config.Site.BasePath, prefix: s.config.Site.Prefix, signInPage: s.config.Pages.SignIn}
	return s, errors.Join(faults...)
}

// copyLists replaces lists of the configuration by copies, which the caller cannot
// change.
func (s *setup) copyLists() {
	c := &s.config
	c.Providers = slices.Clone(c.Providers)
	c.Secrets = slices.Clone(c.Secrets)
	c.Tokens.Keys = slices.Clone(c.Tokens.Keys)
	c.Texts.Languages = slices.Clone(c.Texts.Languages)
	c.Factors.Kinds = slices.Clone(c.Factors.Kinds)
	c.Operations.Audit.HashKey = slices.Clone(c.Operations.Audit.HashKey)
	c.Site.AllowedHosts = slices.Clone(c.Site.AllowedHosts)
	c.Site.TrustedProxies = slices.Clone(c.Site.TrustedProxies)
	c.Site.RedirectProxyOrigins = slices.Clone(c.Site.RedirectProxyOrigins)
}

// fillDefaults sets what is empty to its default, which depends on the Adapter for
// Session.Strategy.
func (c *Config) fillDefaults() {
	if c.Runtime.Time == nil {
		c.Runtime.Time = time.Now
	}
	if c.Session.Strategy == "" {
		c.Session.Strategy = JWTSessions
		if c.Adapter != nil {
			c.Session.Strategy = DatabaseSessions
		}
	}
	if len(c.Texts.Languages) == 0 {
		c.Texts.Languages = words.Tags()
	}
	fill.Default(&c.Session.MaxAge, defaultMaxAge)
	fill.Default(&c.Session.UpdateAge, defaultUpdateAge)
	fill.Default(&c.Session.JWT.MaxAge, c.Session.MaxAge)
	fill.Default(&c.Limits.StoreTimeout, defaultStoreTime)
	fill.Default(&c.Limits.ProviderCallTimeout, defaultCallTime)
	fill.Default(&c.Limits.ProviderTimeout, defaultCallbackTime)
	fill.Default(&c.Limits.CallbackTimeout, defaultHookTime)
	fill.Default(&c.Limits.MailTimeout, defaultMailTime)
	fill.Default(&c.Limits.EventTimeout, defaultEventTime)
	fill.Default(&c.Limits.MaxBodyBytes, defaultBodyLimit)
	fill.Default(&c.Limits.MaxResponseBytes, defaultUpstream)
}

// newHTTPClient returns the client for calls to providers if the configuration
// has none: the standard transport, with limits.
func newHTTPClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxResponseHeaderBytes = 64 << 10
	t.MaxIdleConnsPerHost = 16
	t.DialContext = (&net.Dialer{Timeout: defaultCallTime, KeepAlive: 30 * time.Second}).DialContext
	return &http.Client{Transport: t}
}

// warnOfLooseness tells the operator which defences are off.
func (s *setup) warnOfLooseness() {
	c := &s.config
	if c.Security.SkipStateCheck {
		s.log.WarnAtStart("SkipStateCheck: where a provider ignores PKCE, visitors can be signed in with an attacker's code, unless CheckState is among its Checks")
	}
	if c.Security.SkipCSRFCheck {
		s.log.WarnAtStart("SkipCSRFCheck: forms of other sites can act for your users, unless you check them yourself")
	}
	if c.Limits.Disabled {
		s.log.WarnAtStart("Limits.Disabled: passwords can be guessed and mailboxes flooded without end")
	}
	if readable := c.Cookies.SessionToken.HTTPOnly; readable != nil && !*readable {
		s.log.WarnAtStart("Cookies.SessionToken.HTTPOnly is off: any script on the site can take the session away")
	}
}

// warnOfOneClient warns if TrustHost is set without TrustedProxies or ClientAddress, and
// the site limits tries: all requests then share one rate limit.
func (s *setup) warnOfOneClient() {
	counts := func(p preparedProvider) bool {
		return slices.Contains([]ProviderType{TypeCredentials, TypeEmail, TypeWebAuthn}, p.info().kind)
	}
	if s.trust.TrustHost && !s.trust.knowsClients() && !s.limits.Off() && slices.ContainsFunc(s.order, counts) {
		s.log.WarnAtStart(oneClient)
	}
}

// checkSecrets adds an error to f for each of texts, the values of field, that is empty, a
// known placeholder or, when Hardened, weak. Otherwise it logs a warning for a weak one.
func checkSecrets(s *setup, f *failure.List, field string, texts []string) {
	for i, text := range texts {
		weakness := weaknessOf(text, s.trust.origin)
		switch {
		case strings.TrimSpace(text) == "" || slices.Contains(placeholders, strings.ToLower(strings.TrimSpace(text))):
			f.Add(ErrMissingSecret, "%s[%d] is empty or a published placeholder: use the output of: openssl rand -base64 33", field, i)
		case weakness == "":
		case s.config.refusesWeakSecrets():
			f.Add(ErrMissingSecret, "%s[%d] %s, which Hardened does not accept: use the output of: openssl rand -base64 33", field, i, weakness)
		default:
			s.log.WarnAtStart("a secret " + weakness + " and may be guessed: use the output of openssl rand -base64 33")
		}
	}
}

// prepareSecrets checks the secrets, and makes the keys and codecs that are derived from
// them. It needs s.trust.
func (s *setup) prepareSecrets(f *failure.List) {
	secrets := s.config.Secrets
	if len(secrets) == 0 {
		f.Add(ErrMissingSecret, "set AUTH_SECRET (or Config.Secrets) to the output of: openssl rand -base64 33")
	}
	checkSecrets(s, f, "Secrets", secrets)
	checkSecrets(s, f, "Tokens.Keys", s.config.Tokens.Keys)
	s.csrfSecret = strings.Join(secrets, ",")
	for i := range secrets {
		s.csrfSecrets = append(s.csrfSecrets, strings.Join(secrets[i:], ","))
	}
	s.keys = keys.New(secrets, s.tenant, s.trust.origin.Text)
	s.cursors, s.auditCursors = people.NewCursors(secrets, s.tenant, s.now), audit.NewCursors(secrets, s.tenant, s.now)
	s.stateCodec = jwt.NewCodec(secrets, s.bind(saltState))
	s.bearerCodes = jwt.NewCodec(secrets, s.bind(saltBearerCode))
	s.challengeCodec = jwt.NewCodec(secrets, s.bind(saltChallenge))
}

// placeholders are secrets that stand in tutorials and templates.
var placeholders = []string{
	"secret", "changeme", "change-me", "change_me", "your-secret", "your_secret", "yoursecret", "mysecret", "my-secret",
	"supersecret", "super-secret", "your-secret-here", "your_secret_here", "replace-me", "replaceme", "password",
	"development", "auth_secret", "nextauth_secret", "xxx", "todo",
}

// options returns the options of the cookies. c.HostPrefix must not be nil: see harden.
func (c *Cookies) options() browser.Options {
	o := browser.Options{HostPrefix: *c.HostPrefix, MigrateUntil: c.MigrateUntil}
	for from, to := range map[*CookieOptions]*browser.CookieOptions{
		&c.SessionToken: &o.SessionToken, &c.CallbackURL: &o.CallbackURL, &c.CSRFToken: &o.CSRFToken, &c.PKCE: &o.PKCE,
		&c.State: &o.State, &c.Nonce: &o.Nonce, &c.Challenge: &o.Challenge, &c.Browser: &o.Browser,
	} {
		*to = browser.CookieOptions(*from)
	}
	return o
}

// saltBearerCode seals codes that apps change for session tokens.
const saltBearerCode = "latchkey.bearer-code"

// prepareCookies names the cookies, once for http and once for https, and adds to f what
// browsers would refuse. It needs s.trust.
func (s *setup) prepareCookies(f *failure.List) {
	for i, secure := range []bool{false, true} {
		if s.config.Cookies.Secure != nil {
			secure = *s.config.Cookies.Secure
		}
		s.cookieSpecs[i] = browser.NewSpecs(s.config.Cookies.options(), s.config.Secrets, secure, s.bind)
	}
	used := s.cookieSpecs[:] // only those that can ever be used
	if s.trust.origin.Text != "" {
		used = []*browser.Specs{s.cookieSpecsFor(s.trust.origin)}
	} else if s.config.Cookies.Secure != nil {
		used = used[:1]
	}
	for _, specs := range used {
		specs.Check(f, s.trust.hostNames())
	}
}

// preparePages checks the application's own pages and makes the built-in ones.
func (s *setup) preparePages(f *failure.List) {
	for _, own := range ownPages(&s.config.Pages) {
		path, _, _ := strings.Cut(own.url, "?")
		if path, _, _ = strings.Cut(path, "#"); s.config.owns(path) {
			f.Add(ErrInvalidConfig, "Pages.%s %q is a route of the library itself, and the redirect would never end: name a path of your own, such as /login", own.field, own.url)
		}
		if own.url != "" && !weburl.IsHTTP(own.url) && !weburl.IsPath(own.url) {
			f.Add(ErrInvalidConfig, "Pages.%s %q: want a path such as /welcome or an http(s) URL", own.field, weburl.Show(own.url))
		}
	}
	s.languages = words.NewMatcher(s.config.Texts.Languages)
	var err error
	if s.pages, err = page.New(pageOptions(s.config.Theme, s.config.Texts)); err != nil {
		f.Add(ErrInvalidConfig, "Theme, Texts: %w", err)
		s.pages, _ = page.New(page.Options{}) // the defaults are known to be good
	}
}

// pageOptions returns the look and the words as the pages know them.
func pageOptions(look Theme, say Texts) page.Options {
	return page.Options{
		Theme: page.Theme{
			ColorScheme: look.ColorScheme, BrandColor: look.BrandColor, ButtonText: look.ButtonText,
			Logo: look.Logo, Icon: look.Icon, Name: look.Name, Contact: look.Contact,
		},
		Languages: say.Languages,
		Text:      say.Text,
	}
}

// prepareAudit makes the audit log, if there is one, and adds to f what it lacks. It
// needs s.mails and s.store.
func prepareAudit(s *setup, f *failure.List) {
	a := &s.config.Operations.Audit
	run := s.mails.pool.Go
	if later := s.config.Runtime.Background; later != nil {
		run = func(f func()) bool {
			return guarded.Contain(func() error { later(func(context.Context) { f() }); return nil }) == nil
		}
	}
	sink := func(name string) *audit.Sink {
		told := func(outcome string, n int) {
			s.log.Count(context.Background(), telemetry.Measure{Kind: telemetry.AuditEvents, Provider: name, Value: outcome, N: int64(n)})
			if outcome == "dropped" {
				s.log.Alert("the audit log does not keep up, so that events were dropped: look at the handler of Operations.Audit.Logger, or at the store", "alert", true, "dropped", n)
			}
		}
		return &audit.Sink{Verbose: a.Verbose, Address: audit.Address(a.Address), Now: s.now, Go: run, Told: told}
	}
	if a.Logger != nil {
		s.audit = sink("log")
		s.audit.Logger = a.Logger
	}
	if len(s.config.Secrets) > 0 {
		s.auditKey = audit.NameKey(a.HashKey, s.config.Secrets[0])
	}
	switch {
	case len(a.HashKey) > 0 && len(a.HashKey) < 16:
		f.Add(ErrInvalidConfig, "Operations.Audit.HashKey has fewer than 16 bytes: use random ones, or leave it out")
	case a.Required && !a.Store:
		f.Add(ErrInvalidConfig, "Operations.Audit.Required needs Operations.Audit.Store")
	case a.Required && s.config.Session.Store != nil:
		f.Add(ErrInvalidConfig, "Operations.Audit.Required needs sessions in the Adapter, whose transactions they take part in: leave Session.Store out")
	case a.Store && s.store == nil:
		f.Add(ErrMissingAdapter, "Operations.Audit.Store needs an Adapter: set Config.Adapter")
	case a.Store && !s.store.Has(directory.AbilityAudit):
		*f = append(*f, s.store.Require("Operations.Audit.Store", directory.AbilityAudit))
	case a.Required && s.store.Tx == nil:
		*f = append(*f, s.store.Require("Operations.Audit.Required", directory.AbilityTx))
	case a.Required && !hasPlace(func(ctx context.Context) error { return directory.AuditPlace(ctx, s.store) }):
		f.Add(ErrInvalidConfig, "Operations.Audit.Required: the tables of the Adapter have no place for the audit log: run latchkey migrate, or leave Required out")
	case a.Store:
		s.table = tableOf(s, sink("store"))
		if s.store.Tx == nil {
			s.log.WarnAtStart("Operations.Audit.Store: the Adapter is no TxAdapter, so that an event is stored after what it tells")
		}
	}
}
