package latchkey

import (
	"context"
	"crypto"
	"net/http"
	"net/url"
	"time"

	"github.com/latchkeyhq/latchkey/internal/fill"
)

// Provider is one way to sign in: an [*OAuth], [*Email], [*Credentials], [*Password] or
// [*WebAuthn]. The interface is sealed, so there are no others. Package providers has
// many ready-made.
type Provider interface {
	// prepare returns the provider made ready, which shares nothing with the receiver,
	// and what is wrong with it. With an error the provider may be nil.
	prepare(s *setup, getenv func(string) string) (preparedProvider, error)
}

// Style is how the built-in pages show a provider's button. Embedded icons include apple, facebook,
// github, gitlab, google, linkedin, microsoft, tiktok, x, yandex, key, passkey and generic.
type Style struct {
	Color string // CSS colour behind Mark and the letter; empty or invalid: chosen by the provider's id
	Icon  string // name of an embedded icon; empty or unknown: that of the id, else Mark, the type's icon, or a letter
	// Mark is a one-colour mark: SVG path data, 24 by 24 units, 4 KiB at most; anything else: none.
	Mark string
}

// Field is one input of a sign-in form.
type Field struct {
	Name         string
	Label        string // empty: the page's own word for an e-mail address, a password or a user name, else Name
	Type         string // of the HTML input; empty: text
	Placeholder  string
	Autocomplete string // empty: what suits Type and Name
	Value        string // filled in beforehand; never shown for a password; ignored in [Password].Fields
	Required     bool   // the browser sends no form without it; Authorize gets what was sent all the same. Passwords and Credentials.AccountField are always required
}

// Check is a value that proves that an OAuth callback belongs to a sign-in begun in the same browser.
type Check string

// The checks an OAuth provider can use.
const (
	CheckPKCE  Check = "pkce"  // RFC 7636, S256
	CheckState Check = "state" // RFC 6749, section 10.12
	CheckNonce Check = "nonce" // OpenID Connect Core 1.0, section 3.1.2.1
	// CheckNone keeps the library from adding checks to those that are listed. Alone it
	// means no check at all. Without CheckState it is unsafe, and logs a warning.
	CheckNone Check = "none"
)

// ClientAuth is how the site proves itself at a provider's token endpoint. See
// OpenID Connect Core 1.0, section 9.
type ClientAuth string

// The client authentication methods.
const (
	ClientSecretBasic ClientAuth = "client_secret_basic"
	ClientSecretPost  ClientAuth = "client_secret_post"
	ClientSecretJWT   ClientAuth = "client_secret_jwt"
	PrivateKeyJWT     ClientAuth = "private_key_jwt"
	ClientAuthNone    ClientAuth = "none"
)

// SigningKey is the key by which the site proves itself to a provider instead
// of a client secret: see [PrivateKeyJWT] (RFC 7523).
type SigningKey struct {
	hidden

	Key       crypto.Signer // RSA of 2048 bits or more, ECDSA on P-256, P-384 or P-521, or Ed25519
	KeyID     string        // kid in the header of the assertion; empty: the header has none
	Algorithm string        // such as "ES256"; empty: RS256, ES256, ES384, ES512 or EdDSA, as suits Key
}

// EmailTrust says whether a provider vouches that an e-mail address is the person's.
// [OAuth].EmailTrust is about all addresses of a provider, and only EmailUnproven changes
// something there. [Identity].EmailTrust is about the address of one sign-in, and wins.
type EmailTrust int

// The values of [EmailTrust].
const (
	EmailTrustUnknown EmailTrust = iota // the provider does not say
	EmailProven                         // the person has shown that the mailbox is theirs
	EmailUnproven                       // the address was not checked
)

// Grant is what an OAuth provider handed over at the end of a sign-in.
type Grant struct {
	hidden

	Tokens  Tokens
	Profile Claims     // the ID token's claims, completed from userinfo, or userinfo alone: see [OAuth].ProfileFromUserInfo
	IDToken Claims     // the verified claims of the ID token, never of userinfo; nil: there is none
	Params  url.Values // of the callback request
}

// Identity is a person as one provider knows them.
type Identity struct {
	// Subject is the provider's own immutable id for the person, never a handle or an e-mail
	// address. It becomes [Account].ProviderAccountID, with [NewTenants] after a prefix that stands
	// for the issuer. A Subject that is empty, "0" or over 1023 bytes is ErrOAuthProfileParse. An
	// ID token whose sub is not 1 to 255 characters of printable ASCII (OpenID Connect Core 1.0,
	// section 2) is ErrCallbackRoute, and ErrOAuthCallback if the client has sent the token.
	Subject string
	Name    string         // cut to 512 bytes
	Email   string         // normalised; empty: none; unsafe characters are an ErrOAuthProfileParse, other faults pass
	Image   string         // URL of a picture, at most 2 KiB; anything but http and https becomes empty
	Extra   map[string]any // becomes [User].Extra

	// Photo is the picture itself, for providers that have no URL of it: a JPEG, PNG, GIF or WebP
	// of at most 48 KiB. It becomes a data URL, and wins over Image. If Photo or Image is longer,
	// the user has no picture. nil: none.
	Photo []byte

	// WithoutImage makes an empty Image null in the session, as a stored user's always is. false:
	// the session has the profile's picture if that is null or "", and else no image.
	WithoutImage bool

	// EmailTrust says whether the provider vouches for Email. EmailProven and
	// EmailUnproven win over [OAuth].EmailTrust. EmailTrustUnknown: the provider vouches
	// if the profile's email_verified is true and Email is the profile's email (OpenID
	// Connect Core 1.0, section 5.1), unless [OAuth].EmailTrust is EmailUnproven. An
	// Identify that takes Email from another claim must set EmailTrust itself.
	EmailTrust EmailTrust
}

// OAuth is an OAuth 2.0 or OpenID Connect provider. Write one by hand for any
// provider that package providers lacks. Its callback URL, to be registered
// with the provider, is {site}{base path}/callback/{ID}.
type OAuth struct {
	hidden

	ID   string // part of routes, cookies and stored accounts: do not change it later
	Name string // on the button; empty: ID
	OIDC bool   // an ID token is expected and verified

	ClientID     string // empty: AUTH_<ID>_ID
	ClientSecret string // empty: AUTH_<ID>_SECRET
	// NewClientSecret makes a secret when one is needed, such as a signed JWT. nil: ClientSecret.
	NewClientSecret func(ctx context.Context, now time.Time) (string, error)
	ClientAuth      ClientAuth // empty: client_secret_basic, which needs a secret; a public client sets ClientAuthNone
	SigningKey      SigningKey // for private_key_jwt
	// AssertionAudience is the aud of client assertions. Empty: the issuer, else the token endpoint.
	AssertionAudience string

	// Issuer identifies an OpenID Provider, written as the provider writes it, to the slash at its
	// end; endpoints left out are discovered there (OpenID Connect Discovery 1.0). Empty: AUTH_<ID>_ISSUER.
	Issuer string
	// MatchIssuer replaces the comparison with Issuer, for providers whose issuer depends on the
	// person. claims is nil for the discovery document and for the iss of a callback (RFC 9207).
	MatchIssuer func(issuer string, claims Claims) bool

	Authorization Endpoint
	Token         Endpoint
	UserInfo      Endpoint
	JWKS          string // URL of the key set; empty: discovered

	Scopes         []string // nil: openid profile email, without OIDC too; empty and not nil: none
	ScopeSeparator string   // empty: a space
	// ClientIDParam names one more parameter that carries the client id in
	// authorization and token requests. Empty: none.
	ClientIDParam string
	ResponseMode  string // "form_post", or empty for the query
	// VisitorParams names parameters that Authorization sets and that the request of a sign-in may
	// replace, such as prompt. nil: it may replace none of them, but for scope and a shorter
	// max_age, which a request may always ask for. Parameters that Authorization does not set need
	// no entry: a request may add any, except the parameters of the protocol.
	VisitorParams []string
	// CallbackParams names parameters of the callback that the token request
	// repeats, such as the device_id of VK ID. nil: none.
	CallbackParams []string

	// Checks tie a callback to its sign-in. nil: PKCE. CheckState, and for OIDC
	// CheckNonce, are added unless PKCE is among Checks and discovery says that the
	// provider supports S256. CheckNone in Checks keeps them from being added.
	//
	// A state is always sent. With at least one check a callback has to bring it back;
	// [Security].SkipStateCheck lifts that where CheckState is none of the checks. See
	// docs/protocol.md.
	Checks []Check

	// IDTokenAlgs are the accepted signature algorithms. Empty: those of the discovery document, or
	// RS256. HS256 is only accepted when listed. Ed25519 (RFC 9864) and EdDSA are the same.
	IDTokenAlgs []string
	// AllowedAudiences are the other audiences an ID token may have, its azp
	// naming this client. nil: any; none when Hardened.
	AllowedAudiences []string
	// AcceptIDToken lets a script of the site, such as Google One Tap, or a native app
	// post an ID token to the callback. See docs/id-tokens.md.
	AcceptIDToken bool
	// NativeClientIDs are clients whose ID tokens count too, such as an app's bundle id.
	NativeClientIDs []string
	// ProfileFromUserInfo takes the profile of an OIDC provider from the userinfo endpoint instead
	// of the ID token, which is verified all the same. false: the endpoint is called only if the ID
	// token lacks a claim that the scopes promise: name for profile, or email for email.
	ProfileFromUserInfo bool

	// Identify maps what the provider handed over to a person. nil: sub or id;
	// name, nickname or preferred_username; email; picture.
	Identify func(Grant) (Identity, error)
	// KeepTokens chooses what is stored with the account. Callbacks and events get everything all
	// the same. nil stores access, refresh and ID token, ExpiresAt, scope, type, session state and
	// authorization details, but not Extra.
	KeepTokens func(Tokens) Tokens

	// Offline asks for a refresh token, in this provider's way. It needs an Adapter that is
	// a [storage.TokenAdapter], or [TokenConfig].Cookie. See docs/provider-tokens.md.
	Offline    bool
	Refresh    Refresh  // what is special about the refresh tokens
	Revocation Endpoint // of RFC 7009; URL empty: discovered
	// Revoke replaces the request of RFC 7009. nil: that request, where there is an endpoint.
	Revoke func(ctx context.Context, c *http.Client, t Tokens) error

	// Logout says what a sign-out has to do with the provider. The zero value: nothing.
	Logout Logout

	// EmailTrust says whether the provider proves e-mail addresses before it hands
	// them out. With EmailUnproven it vouches for no address, unless Identify sets
	// [Identity].EmailTrust, which wins. EmailProven does no more than EmailTrustUnknown:
	// only email_verified of the profile, or an Identify that sets [Identity].EmailTrust,
	// proves an address.
	//
	// EmailTrust counts again when a user's address is proven for the first time. An
	// account then stays linked only if both are true: its provider vouched for that
	// address when it was linked, and EmailTrust is not EmailUnproven.
	EmailTrust EmailTrust
	// AllowDangerousEmailAccountLinking joins an identity to the existing user
	// with the same e-mail address, if the provider says that it is verified.
	AllowDangerousEmailAccountLinking bool
	// TrustUnverifiedEmail lets AllowDangerousEmailAccountLinking link whatever the provider says of
	// the address. Anybody who can enter your user's address there takes over the account. Logs a warning.
	TrustUnverifiedEmail bool

	// Assurance returns what an OpenID Provider has proven, by the IDToken of the Grant; see
	// [UpstreamMFA]. It is called only with OIDC and [Config].Factors. Of the result AuthTime is
	// ignored. A zero Proved, or one over a minute in the future, means now. AMR is added to "fed".
	// An empty ACR means the level that AMR reaches. Only aal2 counts as two factors. nil: one
	// factor, now.
	Assurance func(Grant) Assurance
	ACRValues []string // asked for where Assurance and [Factors].Require are set

	// RedirectProxyURL overrides [Site].RedirectProxyURL for this provider.
	RedirectProxyURL string
	// AllowPlainHTTP accepts http endpoints on hosts other than loopback. Logs a warning.
	AllowPlainHTTP bool

	Protocol Protocol // replaces OAuth 2, for services that do not speak it
	Style    Style

	// Derive sets what follows from ClientID, ClientSecret and Issuer, for catalogues: [New] calls it
	// when it has them all, from the environment too. p is a copy of New's own, with its maps and
	// slices. An error fails New; it says what to set. nil: nothing follows.
	Derive func(p *OAuth) error

	// FetchProfile replaces the userinfo request, and is called at each sign-in. With OIDC, its sub
	// has to be that of the ID token. c is limited in time and size like every call to a provider.
	FetchProfile func(ctx context.Context, c *http.Client, t Tokens) (Claims, error)
	// Transport wraps the transport of every call to this provider: proxies,
	// extra headers, answers that stray from the standards.
	Transport func(http.RoundTripper) http.RoundTripper

	catalogue catalogueDefaults
}

// catalogueDefaults are the fields that the caller has left to a catalogue: a
// variable of the environment wins over them.
type catalogueDefaults struct{ clientID, clientSecret, issuer string }

// Or returns p with every field it leaves empty taken from defaults, inside nested
// structs and maps of parameters too, for catalogues of providers: their users fill in
// only what differs. A default of true cannot be turned off. The variables of ClientID,
// ClientSecret and Issuer win over their defaults.
func (p OAuth) Or(defaults OAuth) *OAuth {
	takeDefault(&p.ClientID, &p.catalogue.clientID, defaults.ClientID)
	takeDefault(&p.ClientSecret, &p.catalogue.clientSecret, defaults.ClientSecret)
	takeDefault(&p.Issuer, &p.catalogue.issuer, defaults.Issuer)
	fill.From(&p, defaults)
	return &p
}

// takeDefault fills an empty field with value, and stores value in taken, too.
func takeDefault(field, taken *string, value string) {
	if *field == "" {
		*field, *taken = value, value
	}
}

// Email signs people in by a link sent to their mailbox. It needs an Adapter
// that is a [storage.VerificationTokenAdapter].
type Email struct {
	hidden

	ID     string        // empty: email
	Name   string        // empty: Email
	From   string        // handed to Send
	MaxAge time.Duration // of a link; 0: 24 hours, 10 minutes when Hardened
	// Send delivers the message, within [Limits].MailTimeout. Its error leads a browser back to
	// the sign-in page with error=EmailSignin, and the link in the message is void.
	Send func(ctx context.Context, m Message) error
	// NewSend makes Send when [New] is called, for catalogues whose settings may come from the
	// environment; getenv is the one that New reads. Not called when Send is set. New refuses nil for both.
	NewSend func(getenv func(string) string) (func(ctx context.Context, m Message) error, error)
	// Normalize turns what was typed into one mailbox. nil: trimmed, lower-cased, Unicode NFKC, the
	// domain in ASCII. Its result is treated so too, and checked to be exactly one plain mailbox.
	Normalize func(typed string) (string, error)
	// NewToken makes what a link is recognised by, with 128 random bits or more, such as
	// crypto/rand.Text. Less, down to six digits, is accepted where MaxAge is 15 minutes at most
	// and wrong tries are limited to 20 or fewer ([Limits].LinkTries). New calls NewToken a few
	// times to check that. nil: 32 random bytes in hex.
	NewToken func() (string, error)
	// Secret is mixed into the stored hash, and so is ID where several Email
	// providers have one secret. Empty: Config.Secrets.
	Secret string
	// ConfirmLink shows a page with a button when the link is opened, and spends the link when the
	// button is pressed, so that mail scanners cannot. nil: on when Hardened.
	ConfirmLink *bool
	// SameBrowser accepts a link only in the browser that asked for it.
	SameBrowser bool
	// Code puts a code beside the link, for the browser that asked for the mail: it
	// lives for ten minutes, and five tries. Link and code are one proof, and the
	// first use ends both. It needs an Adapter that is a [storage.ChallengeAdapter].
	Code       bool
	CodeLength int // digits, 6 to 8; 0: 8
	Style      Style
}

// Credentials signs people in by what they type, such as a name and a password, which the
// application checks. Their form posts to /callback/{ID} below the base path. The library creates
// no users for them. With stored sessions, Authorize returns a user that the Adapter has, with the
// user's id. A site whose only provider is Credentials needs JWTSessions.
type Credentials struct {
	ID     string // empty: credentials
	Name   string // empty: Credentials
	Fields []Field
	// Authorize returns the user who has these credentials. It refuses with a zero User,
	// ErrNotFound, ErrCredentialsSignin or [CredentialsError], all of which lead back to the form;
	// [RedirectTo] and [RespondWith] lead elsewhere; any other error is an error page. fields holds
	// everything that was posted, untouched, except csrfToken, callbackUrl, json and redirect.
	// Authorize is not called for a form with more than 32 fields, a name or value over 4 KiB, or a
	// JSON value that is no text. Such a form is refused like wrong credentials. Without stored
	// sessions, a User without an ID gets a random one at each sign-in.
	Authorize func(ctx context.Context, fields map[string]string, r *Request) (User, error)
	// AccountField names the field that failed tries are counted under. Empty: the first of Fields.
	AccountField string
	Style        Style
}
