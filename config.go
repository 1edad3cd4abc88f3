package latchkey

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// Config says how an [Auth] behaves. [New] copies it: later changes have no effect. A secret and
// what [Site] needs must come from here or the environment; all else but Providers has a default.
// New refuses a negative number, unless its comment explains it. Functions run concurrently.
type Config struct {
	hidden

	Providers []Provider      // at least one, in the order the sign-in page shows them
	Adapter   storage.Adapter // nil: no database; sessions live in the cookie

	// Secrets seal tokens and sign cookies. The newest comes first: it makes
	// new values; the others still open older ones. New refuses one that is empty or a
	// published placeholder, and when Hardened one that may be guessed. Empty:
	// AUTH_SECRET_3, AUTH_SECRET_2, AUTH_SECRET_1 and AUTH_SECRET, in this order.
	Secrets []string

	// Hardened switches on every stricter default that an existing site may notice; see
	// docs/hardening.md for the list. Most have a field of their own. Such a field decides
	// if it is set, whatever Hardened is. The list says which have none.
	Hardened bool

	Site        Site          // where the site lives, and whom to believe about it
	Session     SessionConfig // where sessions are kept, and for how long
	Cookies     Cookies       // their names and attributes
	Pages       Pages         // pages of the application's own
	Theme       Theme         // how the built-in pages look
	Texts       Texts         // what pages and mails say, and in which language
	AccountPage AccountPage   // the page where people manage their account
	Callbacks   Callbacks     // decisions of the application's own
	Events      Events        // what it is told
	Limits      Limits        // what unauthenticated clients can make the server do
	Factors     Factors       // second factors; zero: off
	Invitations bool          // addresses can be invited: see [users.Users.Invite]
	Security    Security      // single rules, stricter or looser
	Runtime     Runtime       // what the program lends: clock, log, HTTP client
	Tokens      TokenConfig   // how provider tokens are kept and renewed
	Operations  Operations    // how the site is watched and run
	Mail        Mail          // how mails other than sign-in links are delivered

	env environment // see WithEnv

	logouts   logouts
	passwords int // how many providers are a Password; set by prepare
}

// Site says where the site lives and whom to believe about it. Without URL one
// of TrustHost, AUTH_TRUST_HOST or AllowedHosts is needed.
type Site struct {
	URL      string // the public URL, such as https://app.example; empty: AUTH_URL, else from each request
	BasePath string // of the routes; empty: the path of URL or of AUTH_URL, without Prefix, else /auth
	// SuppressBasePathWarning keeps New silent where BasePath and URL both name
	// a path, for configurations that are composed.
	SuppressBasePathWarning bool

	// Prefix is what http.StripPrefix, or a proxy, takes off paths before the program sees them,
	// such as "/app". BasePath, Pages and RedirectTo are paths as the program sees them; links,
	// redirects and pages get Prefix in front. The path of URL has it, too. Where all of the base
	// path is taken off, BasePath is "/". Empty: nothing is.
	Prefix string

	// TrustHost says that the Host and X-Forwarded-* headers of requests can be
	// believed, because a proxy sets them. Also set by AUTH_TRUST_HOST.
	TrustHost bool
	// AllowedHosts are the hosts the site answers to, such as "app.example" or "*.preview.example".
	// Routes and guards answer requests for others with status 400, and such requests have no
	// session. A port other than the scheme's own has to be named, as in "app.example:8443";
	// "localhost:*" is any port, for loopback hosts only. "*" is any host on any port and logs a
	// warning. Empty: what TrustHost says. Without TrustHost only the Host header counts, not
	// X-Forwarded-*. Not looked at when URL is set.
	AllowedHosts []string

	// TrustedProxies are the networks whose X-Forwarded-For is believed when the client's IP
	// address is needed for limits and logs. The zero netip.Prefix{} is a proxy that connects by a
	// Unix socket, which has no IP address. Empty: none.
	TrustedProxies []netip.Prefix
	// ClientAddress replaces what TrustedProxies does, for sites that know the client's IP address
	// in another way. What it says may have a port, and IPv4 may be mapped into IPv6; all spellings
	// of one are one client. Other text names a client as it is. Empty: unknown. nil: that of the
	// connection; if a trusted proxy made it, X-Forwarded-For's last hop that is none, else its first.
	ClientAddress func(r *Request) string

	// RedirectProxyURL is the base path URL of a stable deployment that sends OAuth callbacks on to
	// this one. Empty: AUTH_REDIRECT_PROXY_URL, else none.
	RedirectProxyURL string
	// RedirectProxyOrigins are the origins this deployment, being the proxy,
	// sends callbacks on to, such as "https://*.preview.example". Empty: its
	// own host name, over https and on the usual port; a loopback host on any port.
	RedirectProxyOrigins []string
}

// Strategy is where sessions are kept.
type Strategy string

// The session strategies.
const (
	JWTSessions      Strategy = "jwt"      // in the cookie itself, encrypted
	DatabaseSessions Strategy = "database" // in a row; the cookie holds its key
)

// Pages are the application's own pages, each a path or an http(s) URL. The application
// serves them. Their parameters are in docs/sign-in-page.md. Guards let signed-out
// visitors reach all but Reauth and NewUser, users who lack a proof all but NewUser, and
// refused users all but Error, Reauth and NewUser. A GET, HEAD or POST passes if it has
// exactly the host and the path of the page, slash at the end included, and at least its
// query. Style sheets and pictures of the pages do not pass: serve them outside of guards. A
// path names a page of every host that the site answers to; a URL passes at the host of
// Site.URL or AllowedHosts alone. Empty: the built-in page.
type Pages struct {
	SignIn        string // gets callbackUrl, and error=<type> after a refusal
	SignOut       string // asks whether to sign out
	Error         string // gets error=<type>, from guards too
	VerifyRequest string // says that a mail was sent; gets provider and type, and error=Verification after a wrong code
	Factor        string // asks for a second factor, but sets up none; gets use=<kind>, and error=SecondFactor after a wrong one; links of RecoveryDelay bring do and token
	Reauth        string // asks a signed-in user for another proof; gets for=recent or factor, callbackUrl, and error=<type> after a wrong one
	Password      string // gets the query parameters "do", "token" of a link, and after a refusal "error" and "code"; see docs/passwords.md
	Invite        string // shows an invitation; gets token and email, or error=Verification for one that is void
	NewUser       string // new users land here first, with callbackUrl; empty: they go straight on
}

// Operations is how a team watches and runs a site. The zero value costs nothing: no
// allocation, query, header or cookie.
type Operations struct {
	// Tracer hears of requests, calls and counts; module otel has one for
	// OpenTelemetry. nil: nothing is traced.
	Tracer telemetry.Tracer
	// Audit keeps security events in a log for auditors. The zero value keeps none.
	Audit Audit
	// ShowReference shows the reference code of a failure: on the error and sign-in
	// pages, as the query parameter ref on pages of the application's own, in JSON
	// errors, and as the header Latchkey-Reference. See docs/troubleshooting.md.
	ShowReference bool
	// RolloutGrace keeps session cookies that are sealed under an unknown secret for so
	// long after the start, instead of clearing them: an instance that is rolled out
	// with a wrong secret then signs no user out for good. Such a cookie opens nothing.
	// 0 or negative: they are cleared at once, as in Auth.js.
	RolloutGrace time.Duration
}

// Theme colours the built-in pages. Its colours are opaque, and its data: URLs in base64.
type Theme struct {
	ColorScheme string // "auto", "light" or "dark"; empty: auto
	BrandColor  string // CSS colour: # and digits, a name, rgb() or hsl(); empty: Latchkey's blue
	ButtonText  string // CSS colour; empty: what is readable on BrandColor
	Logo        string // an http(s) URL, a path of the site, or a data: URL of an image; empty: none
	Icon        string // of the browser's tab: a path of the site or a data: URL of an image; empty: a keyhole on BrandColor
	Name        string // of the site, in the titles and headings of pages and as what the logo says; empty: its host, and a logo without words
	Contact     string // whom a refused user can ask: an e-mail address or an http(s) URL; empty: refusals name no contact
}

// Texts are what the built-in pages and mails say, and in which language. The
// zero value answers every visitor in the language their browser asks for, and
// in English if there is none such. See docs/translations.md for the languages
// and keys.
type Texts struct {
	// Languages to choose from, as BCP 47 tags such as de or pt-BR. The first
	// is for visitors who ask for none of them; a single one is for all visitors. One that is
	// not built in has the texts of its nearest relative (de-CH those of de), as far as Text does
	// not replace them. Without a relative it has the English ones, and New refuses it if Text is
	// nil. Empty: English, and every other one that is built in.
	Languages []string
	// Choose picks the language for a request, for sites where visitors have
	// chosen one. A variety of one of Languages chooses that one. For "" and any other text the
	// page has the language that the browser asks for. nil: always that language.
	Choose func(ctx context.Context, r *Request) string
	// Text replaces texts. It is called by New for every key of every language,
	// and for each mail, with the text as it would be; "" keeps that. A place
	// such as {name} must stay. nil: nothing is replaced.
	Text func(language, key, text string) string
}

// Cookies overrides the cookies Latchkey sets.
type Cookies struct {
	Secure *bool // prefixed names and the Secure attribute; nil: if the site is served over https
	// HostPrefix gives every cookie whose Name is empty here the __Host- prefix on https sites.
	// No sibling host can plant such a cookie, and New refuses a Domain, or a Path other than /,
	// for it. nil: on when Hardened.
	HostPrefix *bool
	// MigrateUntil is until when session cookies that have the name from before
	// HostPrefix are read, and renamed. Set it together with HostPrefix, to a date one
	// [SessionConfig].MaxAge ahead. Until that date a sibling host can still plant a
	// session. Zero: such cookies are not read.
	MigrateUntil time.Time

	SessionToken CookieOptions
	CallbackURL  CookieOptions
	CSRFToken    CookieOptions
	PKCE         CookieOptions
	State        CookieOptions
	Nonce        CookieOptions
	Challenge    CookieOptions // of a passkey
	// Browser marks a browser that has signed in before, whose tries are counted apart. A
	// sign-in sets it if its tries or mails are limited, or if [Factors] are on. It lives 90 days
	// and opens no session, but replaces the second factor during [Factors].Remember.
	Browser CookieOptions
}

// CookieOptions changes one cookie. What is left empty keeps its default.
type CookieOptions struct {
	Name     string // the whole name; no prefix is added
	Domain   string
	Path     string
	SameSite http.SameSite
	Secure   *bool
	HTTPOnly *bool
	MaxAge   time.Duration // of the cookie, not of what it holds
}

// Limits bounds what unauthenticated clients can make the server do. The zero value is
// on, with generous numbers. A [Rate] has both Events and Per above zero, or neither for
// the default. New refuses any other, and a negative size or timeout. A single limit
// cannot be switched off, only made large.
type Limits struct {
	Disabled bool // no limit on tries and mails; bodies and times stay bounded

	CredentialsPerAccount Rate // failed tries on one name; zero: 20 in 15 minutes
	CredentialsPerClient  Rate // failed tries at passwords and links from one IP address. Passkeys that are refused or sign up a user, questions for the passkeys of an address, and requests to sign up or change an address with a password are each counted apart; zero: 100 in 15 minutes
	FactorPerUser         Rate // wrong second factors of one user. Each browser that the user has signed in from has a count, recovery codes have one, and all other browsers share one. These others also get no more than three times Events in a day; zero: 10 in an hour
	MailsPerRecipient     Rate // links sent to one mailbox and not used; zero: 5 in 15 minutes
	MailsPerClient        Rate // links asked for from one IP address, used or not; zero: 30 in an hour
	LinkTries             Rate // wrong guesses at the links of one mailbox, where Email.NewToken makes short ones; zero: 5 in 15 minutes

	// Limiter counts tries and mails. nil: this process's memory, or when Hardened the
	// Adapter, if it is a [storage.Limiter]. Share one between instances. In a
	// [storage.ReturningLimiter] tries that succeeded, tries that another limit refused
	// and links that were used do not stay counted. While Limiter fails, each instance
	// counts by itself.
	Limiter storage.Limiter

	// Replay remembers check values that completed a callback. nil: this process's
	// memory, or when Hardened the Adapter, if it is a [storage.ReplayStore]. While
	// Replay fails, callbacks are refused.
	Replay storage.ReplayStore

	MaxBodyBytes     int // of a request; 0: 1 MiB, of which forms get 64 KiB
	MaxResponseBytes int // of a provider's response; 0: 1 MiB

	ProviderCallTimeout time.Duration // of one call to a provider; 0: 5 s
	ProviderTimeout     time.Duration // of all calls to a provider that one request makes; 0: 10 s
	// StoreTimeout bounds one call or one whole transaction of the Adapter, and one call of
	// Session.Store, Session.Revocations, Limiter or Replay; 0: 10 s. A sign-in makes up to a
	// dozen calls in one transaction, those of Session.Revocations and of the audit log among
	// them.
	StoreTimeout    time.Duration
	CallbackTimeout time.Duration // of one call of Callbacks, Credentials.Authorize, Factors.Require, WebAuthn.UserInfo, a Ceremony, or JWTConfig's Encode and Decode; 0: 10 s
	MailTimeout     time.Duration // of one call of Email.Send or Mail.Send; 0: 10 s
	EventTimeout    time.Duration // of one call of a function of Events; 0: 5 s

	DiscoveryMaxAge time.Duration // how long a provider's metadata is kept; 0: as its headers say, within 5 minutes and 24 hours; negative: not at all. Its keys are kept for an hour at most
	DiscoveryPause  time.Duration // after a failure; 0: growing from 1 s to 30 s, or as Retry-After says within 5 minutes; negative: none
}

// AccountPage switches on the built-in account page at {base path}/account. A user sees
// linked accounts and devices there, unlinks accounts, ends sessions and, with an Adapter
// that is a [storage.UserDeletionAdapter], deletes the user.
type AccountPage struct {
	Enabled bool        // it needs an Adapter that is a storage.AccountAdapter
	Edit    AccountEdit // what users change of themselves there, such as EditName | EditImage
	// Activity keeps the latest sign-ins and changes of each user for 90 days, and shows
	// them on the page: see Users.Activity. It works without Enabled, too. [Auth.Sweep]
	// removes older ones. It needs an Adapter that is a [storage.ActivityAdapter].
	Activity bool
	// Export lets users download on the page what is kept of them, five times a day.
	Export bool
	// ExportMore returns what the application keeps of a user, as a value for JSON. It is
	// the member "application" of every export, that of [users.Users.Export] included, which
	// works without Enabled and Export. An error, and taking longer than 30 seconds, fails the
	// export. nil: nothing.
	ExportMore func(ctx context.Context, u User) (any, error)
}

// AccountEdit is the set in [AccountPage].Edit of what users may change. Zero is the empty set.
type AccountEdit uint8

// What users may change. A picture is a URL, which the library never fetches.
const (
	EditName AccountEdit = 1 << iota
	EditImage
	// EditEmail is the e-mail address, which changes by a link to the new one. With a
	// [Password] users can change it without this bit, too. EditEmail needs a way to send
	// mails, which is Mail or an [Email] provider; an Adapter that is a
	// [storage.ChallengeAdapter], and with stored sessions a [storage.SessionListAdapter]; and a
	// [storage.RevocationStore], which is the Adapter or [SessionConfig].Revocations.
	EditEmail
)

// keepsEvents reports whether Events.Observe, the activities or an audit log want each event.
func (c *Config) keepsEvents() bool {
	return c.Events.Observe != nil || c.AccountPage.Activity || c.Operations.Audit.Logger != nil || c.Operations.Audit.Store
}

// Security switches single rules. The zero value suits most sites.
type Security struct {
	// RefuseSameSite also refuses posts that the browser marks as coming from a
	// sibling host of the same site. nil: on when Hardened.
	RefuseSameSite *bool
	// RefuseEviction refuses the first proof of an e-mail address whose user
	// has accounts, passkeys or sessions that others may have attached before,
	// instead of removing those. See [EvictEvent].
	RefuseEviction bool
	// OneFlow lets a browser have one sign-in at a provider under way, as in Auth.js: the
	// second that begins replaces the first, and a callback in the older tab is refused.
	// false: up to four are under way and complete, in any order.
	OneFlow bool
	// StrictSignOut answers 500 when the store could not end a session, instead
	// of redirecting as usual. The cookie is cleared either way. nil: on when
	// Hardened.
	StrictSignOut *bool
	// SkipCSRFCheck turns the built-in protection off, for frameworks that have
	// their own. Logs a warning.
	SkipCSRFCheck bool
	// SkipStateCheck accepts the answer of a provider without the state that was
	// sent, where [CheckState] is not among the provider's Checks, as Auth.js does. At
	// a provider that ignores a PKCE verifier without a challenge, an attacker can
	// then sign a visitor in with the attacker's code. Logs a warning.
	SkipStateCheck bool
}

// Runtime is what the library takes from the program: HTTP client, log, clock.
type Runtime struct {
	HTTPClient *http.Client     // for all calls to providers; nil: one of its own, with timeouts
	Logger     *slog.Logger     // nil: slog.Default
	Debug      bool             // log at level debug to standard error; ignored when Logger is set
	Time       func() time.Time // nil: time.Now
	// Leases let one of several processes renew a provider token. nil: the Adapter, if
	// it is one; otherwise each process renews by itself.
	Leases storage.LeaseStore
	// Background runs f after the answer to a request, with a context that ends when
	// the program has to stop: mails are sent there. It is for platforms that freeze
	// the process after a response. Background may also run f itself before it returns.
	// nil: this process runs eight at once, keeps 256 waiting, and drops and logs the
	// rest.
	Background func(f func(context.Context))
}
