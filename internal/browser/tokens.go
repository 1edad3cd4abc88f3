package browser

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cookie"
	"github.com/latchkeyhq/latchkey/jwt"
)

// HeldTokens are the tokens of one account, as a browser keeps them for a site without
// a database.
type HeldTokens struct {
	Provider  string `json:"p"`
	AccountID string `json:"a"`
	Kind      string `json:"k,omitempty"` // of the provider
	Issuer    string `json:"i"`           // and Client: the grant that the tokens belong to
	Client    string `json:"c"`
	Access    string `json:"at,omitempty"` // empty: there was no room for it
	Refresh   string `json:"rt,omitempty"`
	ID        string `json:"it,omitempty"`
	Type      string `json:"tt,omitempty"`
	Scope     string `json:"s,omitempty"`
	Expires   int64  `json:"e,omitempty"` // of Access, in Unix seconds; 0: unknown
	Lifetime  int64  `json:"l,omitempty"` // of Access, in seconds; 0: unknown
}

// TokenCookie is the content of the cookie with provider tokens. It belongs to one
// session.
type TokenCookie struct {
	Tenant   string
	Subject  string // of the session token
	Session  string // its sid
	Issued   time.Time
	Accounts []HeldTokens // the newest sign-in first
}

// The limits of the cookie with provider tokens. Servers and proxies refuse requests
// whose header is much longer than two cookies.
const (
	mostTokenAccounts = 3
	mostTokenPieces   = 2
	mostTokenText     = mostTokenPieces * cookie.ChunkSize
)

const purposeTokens = "provider tokens"

// TokenCookie returns the provider tokens that the browser keeps. It returns false if the
// cookie is missing, does not open or has expired. life is of use only for a cookie that
// has no expiry in it. The caller must compare Tenant, Subject and Session with the
// session of the request.
func (c *Cookies) TokenCookie(now time.Time, life time.Duration) (t TokenCookie, ok bool) {
	text, _, ok := c.jar.Chunked(c.Specs.Tokens.Name())
	if !ok || len(text) > mostTokenText {
		return t, false
	}
	claims, err := c.Specs.Tokens.Codec.OpenClaims(text, now, life)
	if err != nil {
		return t, false
	}
	return tokenCookieOf(claims)
}

// tokenCookieOf reads the content of the cookie from its claims. It returns false for
// claims of another purpose or form, and for those that name no session.
func tokenCookieOf(claims jwt.Claims) (t TokenCookie, ok bool) {
	if claims.String("purpose") != purposeTokens {
		return t, false
	}
	t = TokenCookie{Tenant: claims.String("tenant"), Subject: claims.String("sub"), Session: claims.String("sid")}
	t.Issued, _ = claims.Time("iat")
	raw, err := json.Marshal(claims["accounts"])
	if err != nil || json.Unmarshal(raw, &t.Accounts) != nil || len(t.Accounts) > mostTokenAccounts {
		return TokenCookie{}, false
	}
	return t, t.Subject != "" && t.Session != ""
}

// BringsTokens reports whether the browser sent a cookie with provider tokens, or pieces
// of one. It does not open the cookie.
func BringsTokens(c *Cookies) bool {
	_, parts, ok := c.jar.Chunked(c.Specs.Tokens.Name())
	return ok || len(parts) > 0
}

// PutTokenCookie has the browser keep provider tokens for the time life, and returns t
// with what the browser keeps. It writes now in place of t.Issued. Of more
// than three accounts it leaves out the oldest. Then it leaves out what does not fit:
// first ID tokens, then access tokens, then whole accounts, each time of the oldest
// account first. If no account is left, it makes the browser forget the cookie. It does
// not change t.Accounts. It returns an error if the cookie cannot be sealed.
func (c *Cookies) PutTokenCookie(t TokenCookie, now time.Time, life time.Duration) (TokenCookie, error) {
	t.Accounts = slices.Clone(t.Accounts[:min(len(t.Accounts), mostTokenAccounts)])
	for len(t.Accounts) > 0 {
		sealed, err := c.Specs.Tokens.Codec.SealClaims(jwt.Claims{
			"purpose": purposeTokens, "tenant": t.Tenant, "sub": t.Subject, "sid": t.Session, "accounts": t.Accounts,
		}, now, life)
		if err != nil && !errors.Is(err, jwt.ErrTooLong) {
			return t, err
		}
		if err == nil && len(sealed) <= mostTokenText {
			putTokenPieces(c, sealed, now.Add(life))
			return t, nil
		}
		t.shorten()
	}
	c.EndTokenCookie()
	return t, nil
}

// shorten removes the oldest ID token. If there is none, it removes the oldest access
// token, or else the oldest account. t must have an account.
func (t *TokenCookie) shorten() {
	last := len(t.Accounts) - 1
	for _, field := range []func(*HeldTokens) *string{
		func(h *HeldTokens) *string { return &h.ID }, func(h *HeldTokens) *string { return &h.Access },
	} {
		for i := last; i >= 0; i-- {
			if text := field(&t.Accounts[i]); *text != "" {
				*text = ""
				return
			}
		}
	}
	t.Accounts = t.Accounts[:last]
}

// putTokenPieces sends the cookie, in pieces if value is long, and clears every other
// piece that the browser may have: an earlier call for the same response may have sent
// other pieces.
func putTokenPieces(c *Cookies, value string, expires time.Time) {
	k := &c.Specs.Tokens
	sent := map[string]bool{}
	for _, chunk := range cookie.Split(k.Name(), value, 0) {
		piece := k.New(chunk.Value, expires)
		piece.Name = chunk.Name
		sent[chunk.Name] = true
		c.replace(piece)
	}
	for _, name := range tokenPieces(c) {
		if !sent[name] {
			c.clearPiece(k, name)
		}
	}
}

// EndTokenCookie makes the browser forget all provider tokens, if the browser has sent
// any. It also removes those from Out that an earlier call has put there.
func (c *Cookies) EndTokenCookie() {
	if c.Specs == nil {
		return
	}
	names := tokenPieces(c)
	c.Out = slices.DeleteFunc(c.Out, func(k *http.Cookie) bool { return slices.Contains(names, k.Name) })
	if !BringsTokens(c) {
		return
	}
	for _, name := range names {
		c.clearPiece(&c.Specs.Tokens, name)
	}
}

// tokenPieces returns the names that the pieces of the cookie may have: those that are
// written, and those that the browser sent.
func tokenPieces(c *Cookies) []string {
	name := c.Specs.Tokens.Name()
	all := []string{name, name + ".0", name + ".1"}
	_, sent, _ := c.jar.Chunked(name)
	for _, piece := range sent {
		if !slices.Contains(all, piece) {
			all = append(all, piece)
		}
	}
	return all
}
