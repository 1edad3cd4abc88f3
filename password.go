package latchkey

import (
	"context"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/passwords"
)

// Password signs people in by an e-mail address and a password that the library
// keeps. Users sign up, choose a new password by a link in a mail, and change password
// and address on pages below {base path}/password and {base path}/account. For existing
// clients it is a provider of the type credentials: they post email and password to
// {base path}/callback/password. One may be configured. It needs an Adapter that is a
// [storage.PasswordAdapter], a [storage.ChallengeAdapter] and a [storage.BrowserAdapter];
// a [storage.RevocationStore], which is the Adapter or [SessionConfig].Revocations; and a
// way to send mails, which is [Config].Mail or an [Email] provider. Provider of module
// password fills in Hasher, MinLength and Weakness.
type Password struct {
	hidden

	ID   string // empty: password
	Name string // empty: Password

	Hasher PasswordHasher
	// MinLength is the least number of characters of a new password: 8 or more. The
	// pages say it, and Weakness checks it.
	MinLength int
	// Weakness says why a new password is refused: short, long, common, context,
	// repeated, breached or control. An empty code accepts it. about holds the address,
	// the user's name and the site's name and host. It may be called concurrently.
	Weakness func(ctx context.Context, password string, about []string) (code string, err error)
	// Derive fills in what depends on options of another module; an error fails New.
	// nil: nothing does.
	Derive func(p *Password) error

	// Fields are asked for at a sign-up, besides address and password. What was typed
	// is in [SignInAttempt].Credentials; a field called name becomes the user's name.
	Fields []Field
	SignUp SignUpPolicy
	// AllowUnverified signs users in before their address is proven, new ones at once. An
	// answer then tells whether an address has an account. With an account page, a new user
	// gets a mail with a link, which proves the address in a session of that user. The first
	// proof of the address in any other way removes the password again. Hardened refuses it.
	AllowUnverified bool
	// OfferPasskey offers a passkey to users who have none, on a page right after they
	// signed in with the password, once in 30 days. It needs a [WebAuthn] provider.
	OfferPasskey bool
	// LinkMaxAge is how long a link works that sets a new password. 0: 30 minutes.
	LinkMaxAge time.Duration
	Style      Style
}

// PasswordHasher hashes and checks passwords, which it gets as they were typed. An
// error that is [storage.ErrUnavailable] is answered with status 503, and one that is
// errors.ErrUnsupported, for a hash that it cannot check, like a wrong password. It is
// called concurrently. Each call has [Limits].CallbackTimeout.
type PasswordHasher interface {
	Hash(ctx context.Context, password string) (string, error)
	// Check compares a password with a stored hash. An empty hash fits no password, and
	// has to cost as much time as any other.
	Check(ctx context.Context, hash, password string) (PasswordCheck, error)
}

// PasswordCheck tells what [PasswordHasher].Check found.
type PasswordCheck struct {
	OK       bool // the password is right
	Stale    bool // it is right, and the library hashes and stores it anew
	Breached bool // it is right, but leaked, and its user has to choose another one
}

// SignUpPolicy says who can create an account with a password.
type SignUpPolicy int

// The sign-up policies.
const (
	SignUpOpen    SignUpPolicy = iota // every visitor
	SignUpClosed                      // no visitor: the application creates the users
	SignUpInvited                     // addresses with an invitation: see [Config].Invitations
)

// passwordKeeper is the provider of a [Password] made ready.
type passwordKeeper interface {
	given() *Password
	use(f *passwords.Flows)
}

// prepareMoves sets s.moves, if users may change their addresses, and adds to f what is
// missing for that. With a Password, s.moves is s.passwords, so preparePasswords has to
// come before.
func prepareMoves(s *setup, f *failure.List) {
	defer func() {
		if s.moves != nil {
			s.directory.MovesAddresses, s.moves.RegainDelay = true, s.config.Factors.RecoveryDelay
		}
	}()
	if s.moves = s.passwords; s.moves != nil || !s.config.AccountPage.movesAddresses() {
		return
	}
	directory.KeepChallenges(s.directory, s.config.Secrets, s.tenant)
	s.mails.need(f, editsEmail)
	needEnds(s, f, editsEmail)
	s.moves = &passwords.Flows{Directory: directory.Passwords{Directory: s.directory}, Limits: s.limits}
}

// needEnds adds a fault if no store remembers when the sessions of a user were ended.
// field is what needs that.
func needEnds(s *setup, f *failure.List, field string) {
	if s.revocations == nil || s.revocations.Store == nil {
		f.Add(ErrMissingAdapterMethods, "%s needs a store that remembers when the sessions of a user were ended: an Adapter that is a RevocationStore, or Session.Revocations", field)
	}
}

// preparePasswords sets s.passwords, if there is a Password, and adds to f what it lacks
// in the rest of the configuration.
func preparePasswords(s *setup, f *failure.List) {
	i := slices.IndexFunc(s.order, func(p preparedProvider) bool { _, is := p.(passwordKeeper); return is })
	if i < 0 {
		return
	}
	provider, _ := s.order[i].(passwordKeeper)
	p := provider.given()
	directory.KeepChallenges(s.directory, s.config.Secrets, s.tenant)
	s.mails.need(f, "Password")
	needEnds(s, f, "Password")
	if p.OfferPasskey && passkeysOf(s) == "" {
		f.Add(ErrInvalidConfig, "Password.OfferPasskey needs a provider of passkeys: add Passkey of module webauthn to Providers, or leave OfferPasskey out")
	}
	s.directory.Passwords = true
	s.passwords = &passwords.Flows{
		Provider: p.ID, SignUpOpen: p.SignUp == SignUpOpen, SignUpInvited: p.SignUp == SignUpInvited,
		Directory: directory.Passwords{Directory: s.directory}, Limits: s.limits, LinkLife: p.LinkMaxAge, AllowUnverified: p.AllowUnverified, OfferPasskey: p.OfferPasskey, Timeout: s.config.Limits.CallbackTimeout,
		Warn: func(ctx context.Context, err error) { s.log.Warn(ctx, err.Error(), "provider", p.ID) },
	}
	provider.use(s.passwords)
	if p.Hasher != nil && p.Weakness != nil {
		s.passwords.Hasher = passwords.Hasher{Hash: p.Hasher.Hash, Weakness: p.Weakness, Check: func(ctx context.Context, hash, password string) (passwords.Result, error) {
			found, err := p.Hasher.Check(ctx, hash, password)
			return passwords.Result(found), err
		}}
	}
}

// passkeysOf returns the id of the first provider of passkeys, or "".
func passkeysOf(s *setup) string {
	for _, p := range s.order {
		if info := p.info(); info.kind == TypeWebAuthn {
			return info.id
		}
	}
	return ""
}

// mailLater sends a mail about a password or an address after the answer to the request of
// ctx. write makes it, as in sendLater. provider is the id of the Password; empty: none.
func mailLater(ctx context.Context, m *mails, by asker, l *links, provider string, write func(context.Context) (passwords.Mail, error)) {
	m.sendLater(ctx, by, func(ctx context.Context) (outgoing, error) {
		mail, err := write(ctx)
		return wordedMail(l, provider, mail), err
	})
}

// wordedMail returns m, a mail about a password or an address, as a message with its
// link. provider is the id of the Password; empty: the site keeps no passwords, and the
// mail offers no new one.
func wordedMail(l *links, provider string, m passwords.Mail) outgoing {
	out := outgoing{Message: Message{To: m.To, Token: m.Handle, Code: m.Code, Expires: m.Expires, Provider: provider}, UserID: m.UserID}
	out.Kind = map[passwords.MailKind]MessageKind{
		passwords.MailSignUp: MessageVerify, passwords.MailKnown: MessageAccountExists, passwords.MailTaken: MessageAccountExists,
		passwords.MailReset: MessagePasswordReset, passwords.MailRenew: MessageNewPassword, passwords.MailChanged: MessagePasswordChanged,
		passwords.MailAddress: MessageNewEmail, passwords.MailProve: MessageVerify, passwords.MailMoving: MessageEmailChange,
		passwords.MailRegain: MessageRecoverEmail, passwords.MailReplaced: MessageEmailLost, passwords.MailMoved: MessageEmailChanged,
	}[m.Kind]
	switch m.Kind {
	case passwords.MailSignUp:
		out.URL = l.url("password?do=verify&token=" + m.Handle)
	case passwords.MailReset, passwords.MailRenew:
		out.URL = l.url("password?do=reset&token=" + m.Handle)
	case passwords.MailAddress, passwords.MailProve:
		out.URL = l.url("account?do=email&token=" + m.Handle)
	case passwords.MailMoving, passwords.MailMoved:
		out.URL = l.url("password?do=undo&token=" + m.Handle)
	case passwords.MailRegain:
		out.URL = l.url("password?do=regain&token=" + m.Handle)
	case passwords.MailReplaced:
		out.URL = l.url("password?do=keep&token=" + m.Handle)
	case passwords.MailKnown, passwords.MailTaken:
		if out.URL = l.url("signin"); provider != "" {
			out.OtherURL = l.url("password?do=forgot")
		}
	case passwords.MailChanged:
		out.URL = l.url("password?do=forgot")
	}
	return out
}
