package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/webauthn"
)

// list splits s at commas. It leaves out the spaces around parts, and empty parts.
func list(s string) []string {
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

func named(variable, name string) bool {
	for _, n := range list(os.Getenv(variable)) {
		if n == name {
			return true
		}
	}
	return false
}

// config returns the library's configuration as the environment describes it.
func (a *app) config() *latchkey.Config {
	c := &latchkey.Config{
		Providers: a.providers(),
		Site:      latchkey.Site{BasePath: os.Getenv("BASE_PATH")},
		Session: latchkey.SessionConfig{
			Strategy:  latchkey.Strategy(env("SESSION_STRATEGY", "jwt")),
			MaxAge:    seconds("SESSION_MAX_AGE"),
			UpdateAge: updateAge(),

			SkipRevocations: true, // tokens with the claims of Auth.js alone
		},
		Callbacks: a.callbacks(),
		Events:    a.events(),
		Security:  latchkey.Security{SkipCSRFCheck: isOn("SKIP_CSRF"), OneFlow: true, SkipStateCheck: true},
		Limits:    latchkey.Limits{Disabled: true, DiscoveryMaxAge: -1, DiscoveryPause: -1},
	}
	if isOn("WEBAUTHN") {
		c.Providers = append(c.Providers, webauthn.Passkey(latchkey.WebAuthn{}))
		c.Session.NewToken = uuid // what the suite's passkey group expects, as Auth.js makes them
	}
	if env("ADAPTER", "memory") != "none" {
		a.backend.configure(c)
	}
	if skin := os.Getenv("CUSTOM_PAGES"); skin != "" {
		query := ""
		if skin == "query" {
			query = "?skin=blue"
		}
		c.Pages = latchkey.Pages{
			SignIn: "/custom/signin" + query, SignOut: "/custom/signout", Error: "/custom/error" + query,
			VerifyRequest: "/custom/verify", NewUser: "/custom/welcome" + query,
		}
	}
	if isOn("THEME") {
		c.Theme = latchkey.Theme{ColorScheme: "dark", Logo: "https://static.example/logo.png", BrandColor: "#ff6600", ButtonText: "#112233"}
	}
	if isOn("CUSTOM_COOKIES") {
		c.Cookies.SessionToken = latchkey.CookieOptions{Name: "latch.sid", SameSite: http.SameSiteStrictMode}
		c.Cookies.CSRFToken = latchkey.CookieOptions{Name: "latch.csrf"}
	}
	if s := os.Getenv("USE_SECURE_COOKIES"); s != "" {
		secure := s == "1"
		c.Cookies.Secure = &secure
	}
	return c
}

// uuid returns a random text in the form of a UUID.
func uuid() string {
	h := strings.ToLower(hex.EncodeToString([]byte(rand.Text())[:16]))
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func seconds(variable string) time.Duration {
	n, _ := strconv.Atoi(os.Getenv(variable))
	return time.Duration(n) * time.Second
}

// updateAge returns SESSION_UPDATE_AGE. The 0 of the suite, at every access, is -1 here.
func updateAge() time.Duration {
	if os.Getenv("SESSION_UPDATE_AGE") == "0" {
		return -1
	}
	return seconds("SESSION_UPDATE_AGE")
}

func (a *app) providers() []latchkey.Provider {
	var out []latchkey.Provider
	for _, id := range list(env("PROVIDERS", "op,plain,credentials,email")) {
		if p := a.provider(id); p != nil {
			out = append(out, p)
		}
	}
	return out
}

func (a *app) provider(id string) latchkey.Provider {
	switch {
	case id == "op" && os.Getenv("AUTH_OP_ISSUER") != "":
		return openIDProvider()
	case id == "plain" && os.Getenv("PLAIN_BASE") != "":
		return plainProvider()
	case id == "credentials":
		return &latchkey.Credentials{
			Name: "Credentials", // on the button, as the contract has it
			Fields: []latchkey.Field{
				{Name: "username", Label: "Username", Type: "text", Placeholder: "your name"},
				{Name: "password", Label: "Password", Type: "password"},
			},
			Authorize: authorize,
		}
	case id == "email" && env("ADAPTER", "memory") != "none":
		return &latchkey.Email{Name: "Email", MaxAge: seconds("EMAIL_MAX_AGE"), Send: a.deliver}
	}
	return nil
}

func openIDProvider() latchkey.Provider {
	p := &latchkey.OAuth{
		ID: "op", Name: "Test OP", OIDC: true,
		ClientAuth:          latchkey.ClientAuth(os.Getenv("OP_AUTH_METHOD")),
		Checks:              checks("OP_CHECKS"),
		ResponseMode:        os.Getenv("OP_RESPONSE_MODE"),
		ProfileFromUserInfo: isOn("OP_USERINFO"),
	}
	if scope := os.Getenv("OP_SCOPE"); scope != "" {
		p.Scopes = []string{scope}
	}
	p.AllowDangerousEmailAccountLinking, p.TrustUnverifiedEmail = isOn("OP_LINK"), isOn("OP_LINK")
	return p
}

func plainProvider() latchkey.Provider {
	base := os.Getenv("PLAIN_BASE")
	return &latchkey.OAuth{
		ID: "plain", Name: "Plain OAuth",
		Authorization:                     latchkey.Endpoint{URL: base + "/authorize"},
		Token:                             latchkey.Endpoint{URL: base + "/token"},
		UserInfo:                          latchkey.Endpoint{URL: base + "/userinfo"},
		Checks:                            checks("PLAIN_CHECKS"),
		AllowDangerousEmailAccountLinking: isOn("PLAIN_LINK"),
		TrustUnverifiedEmail:              isOn("PLAIN_LINK"),
	}
}

func checks(variable string) []latchkey.Check {
	var out []latchkey.Check
	for _, name := range list(os.Getenv(variable)) {
		out = append(out, latchkey.Check(name))
	}
	return out
}

func authorize(_ context.Context, fields map[string]string, _ *latchkey.Request) (latchkey.User, error) {
	name := fields["username"]
	switch {
	case name == "throw-code":
		return latchkey.User{}, latchkey.CredentialsError("custom_code")
	case name == "boom":
		return latchkey.User{}, errors.New("boom")
	case fields["password"] != "wonderland":
		return latchkey.User{}, latchkey.ErrCredentialsSignin
	case name == "alice":
		return latchkey.User{ID: "alice-id", Name: "Alice", Email: "alice@example.com"}, nil
	case name == "noid":
		return latchkey.User{Name: "No Id", Email: "noid@example.com"}, nil
	case name == "echo":
		return latchkey.User{ID: "echo", Name: fields["note"], Email: "echo@example.com"}, nil
	case strings.Contains(name, "@"):
		return latchkey.User{ID: "id:" + name, Name: name, Email: name}, nil
	}
	return latchkey.User{}, latchkey.ErrCredentialsSignin
}

func (a *app) deliver(_ context.Context, m latchkey.Message) error {
	if m.To == "bounce@example.com" {
		return errors.New("mailbox unavailable")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mailbox[m.To] = m
	return nil
}

func (a *app) callbacks() latchkey.Callbacks {
	var c latchkey.Callbacks
	if named("CALLBACKS", "signin") {
		c.SignIn = signIn
	}
	if named("CALLBACKS", "redirect") {
		c.Redirect = redirect
	}
	if named("CALLBACKS", "jwt") {
		c.Token = a.token
	}
	if named("CALLBACKS", "session") {
		c.Session = session
	}
	return c
}

func signIn(_ context.Context, attempt latchkey.SignInAttempt) error {
	switch attempt.User.Email {
	case "denied@example.com":
		return latchkey.ErrAccessDenied
	case "elsewhere@example.com":
		return latchkey.RedirectTo("/elsewhere")
	case "outside@example.com":
		return latchkey.RedirectTo("https://outside.example/landing")
	case "throws@example.com":
		return errors.New("signIn callback failed")
	case "late@example.com":
		if !attempt.VerificationRequest {
			return latchkey.ErrAccessDenied
		}
	}
	return nil
}

func redirect(_ context.Context, to, base string) (string, error) {
	if strings.HasPrefix(to, "/") {
		return base + to, nil
	}
	u, err := url.Parse(to)
	if err != nil {
		return "", err
	}
	if origin := u.Scheme + "://" + u.Host; origin == base || origin == "https://partner.example" {
		return to, nil
	}
	return base, nil
}

func (a *app) token(_ context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) {
	a.note("jwt", map[string]any{
		"trigger": orNil(string(t.Trigger)), "isNewUser": t.Trigger == latchkey.TriggerSignUp,
		"hasUser": t.User != nil, "hasAccount": t.Account != nil, "hasProfile": t.Profile != nil,
		"sub": t.Claims["sub"], "data": t.Update,
	})
	if t.User != nil {
		t.Claims["via"] = t.Account.Provider
		if t.User.Email == "revoked@example.com" {
			return nil, nil
		}
	}
	data, ok := t.Update.(map[string]any)
	if t.Trigger != latchkey.TriggerUpdate || !ok {
		return t.Claims, nil
	}
	for _, name := range []string{"name", "note"} {
		if value, ok := data[name]; ok {
			t.Claims[name] = value
		}
	}
	if big, ok := data["big"].(float64); ok {
		t.Claims["big"] = strings.Repeat("x", int(big))
		if big == 0 {
			delete(t.Claims, "big")
		}
	}
	if revoke, _ := data["revoke"].(bool); revoke {
		return nil, nil
	}
	return t.Claims, nil
}

func session(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
	s := r.Session
	s.Extra = latchkey.Claims{}
	s.User.Extra = latchkey.Claims{"id": s.UserID}
	for _, name := range []string{"note", "via"} {
		if value, ok := r.Claims[name]; ok {
			s.Extra[name] = value
		}
	}
	if r.Trigger != latchkey.TriggerRead {
		s.Extra["trigger"] = r.Trigger
	}
	if r.User != nil && r.Trigger == latchkey.TriggerUpdate {
		s.Extra["updated"] = r.Update
	}
	return s, nil
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (a *app) events() latchkey.Events {
	return latchkey.Events{
		SignIn: func(_ context.Context, e latchkey.SignInEvent) error {
			return a.note("signIn", map[string]any{
				"userId": e.User.ID, "email": e.User.Email, "provider": e.Account.Provider, "type": e.Account.Type,
				"isNewUser": e.IsNewUser, "hasProfile": e.Profile != nil,
			})
		},
		SignOut: func(_ context.Context, e latchkey.SignOutEvent) error {
			fields := map[string]any{"sub": e.Claims["sub"]}
			if e.Session != nil {
				fields["sessionToken"] = e.Session.Token
			}
			return a.note("signOut", fields)
		},
		CreateUser: func(_ context.Context, u latchkey.User) error { return a.note("createUser", userFields(u)) },
		UpdateUser: func(_ context.Context, u latchkey.User) error { return a.note("updateUser", userFields(u)) },
		LinkAccount: func(_ context.Context, e latchkey.LinkAccountEvent) error {
			return a.note("linkAccount", map[string]any{
				"userId": e.User.ID, "provider": e.Account.Provider, "providerAccountId": e.Account.ProviderAccountID,
			})
		},
		Session: func(_ context.Context, e latchkey.SessionEvent) error {
			return a.note("session", map[string]any{"email": e.Session.User.Email, "hasToken": e.Claims != nil})
		},
	}
}

func userFields(u latchkey.User) map[string]any {
	return map[string]any{"userId": u.ID, "email": u.Email, "emailVerified": isoOrNil(u.EmailVerified)}
}

func isoOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

var errEvent = errors.New("event handler failed")
