// Package tokenjar keeps provider tokens for sites without a database. A browser
// brings the tokens of its session in a sealed cookie, and this process remembers for
// two minutes what a refresh token became: requests that were sent at the same time
// bring the same cookie. Package vault does the rest, on rows in memory.
package tokenjar

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/storage"
)

// Jar returns and renews the tokens of browsers. It is safe for concurrent use.
type Jar struct {
	vault  *vault.Vault
	rows   *rows
	tenant string
	life   time.Duration // of a cookie
}

// Session is the session that a cookie belongs to. The zero Session is none.
type Session struct {
	Subject string // of the session token
	ID      string // its sid
}

// New returns a jar. It sets Rows, Leases and Seals of c itself. A cookie lasts for life.
func New(c vault.Config, tenant string, life time.Duration) *Jar {
	j := &Jar{rows: newRows(c.Now), tenant: tenant, life: life}
	c.Rows, c.Leases, c.Seals = j.rows, nil, vault.Unsealed()
	j.vault = vault.New(c)
	j.rows.moved = j.vault.Inherit
	return j
}

// resealAfter is how old a cookie is when a call sends it again, so that it lasts as
// long as a session that is in use.
const resealAfter = 24 * time.Hour

// read returns the cookie of a session. If the browser has none for it, read returns an
// empty one. foreign reports that the browser has a cookie that is to be ended: it does
// not open, or belongs to another session of this tenant. A cookie of another tenant is
// empty here, and not foreign.
func (j *Jar) read(c *browser.Cookies, of Session) (t browser.TokenCookie, foreign bool) {
	t, ok := c.TokenCookie(j.vault.Now(), j.life)
	switch {
	case !ok:
		return browser.TokenCookie{}, browser.BringsTokens(c)
	case t.Tenant != j.tenant: // the cookie of another tenant stays
		return browser.TokenCookie{}, false
	case of == Session{} || t.Subject != of.Subject || t.Session != of.ID:
		return browser.TokenCookie{}, true
	}
	return t, false
}

// SignIn puts the tokens of a sign-in into the browser's cookie. now is the session that
// begins, and former the one that the browser had before. fresh is the account as the
// provider has sent it, and kept has those of its tokens that may be kept. If both
// sessions are of the same user, the tokens of the user's other accounts stay. The
// refresh token of the same account and client stays too if kept has none. SignIn returns
// an error if the cookie cannot be sealed. A nil jar keeps nothing.
func (j *Jar) SignIn(c *browser.Cookies, former, now Session, fresh *storage.Account, kept storage.Tokens) error {
	if j == nil {
		return nil
	}
	var all []account
	if p := j.vault.Providers[fresh.Provider]; p != nil && (kept.AccessToken != "" || kept.RefreshToken != "") {
		all = append(all, account{provider: fresh.Provider, id: fresh.ProviderAccountID, kind: fresh.Type, grant: p.Grant, tokens: vault.Merge(storage.Tokens{}, kept, p.Lifetime, j.vault.Now())})
		if all[0].tokens.ExpiresIn == 0 && kept.AccessToken != "" {
			all[0].tokens.ExpiresIn = fresh.Tokens.ExpiresIn
		}
	}
	old, _ := j.read(c, former)
	if former.Subject != now.Subject {
		old.Accounts = nil
	}
	for _, h := range old.Accounts {
		a := j.rows.newest(former, accountOf(h))
		switch {
		case len(all) == 0 || a.provider != all[0].provider || a.id != all[0].id:
			all = append(all, a)
		case a.grant == all[0].grant && all[0].tokens.RefreshToken == "":
			all[0].tokens.RefreshToken = a.tokens.RefreshToken
		}
	}
	return j.put(c, now, all)
}

// put writes accounts into the cookie of a session. An access token that has no room
// there stays in the memory of this process. put logs an account that has no room: the
// cookie does not keep it.
func (j *Jar) put(c *browser.Cookies, of Session, all []account) error {
	t := browser.TokenCookie{Tenant: j.tenant, Subject: of.Subject, Session: of.ID}
	for _, a := range all {
		t.Accounts = append(t.Accounts, a.held())
	}
	kept, err := c.PutTokenCookie(t, j.vault.Now(), j.life)
	if err != nil {
		return err
	}
	for i, a := range all {
		if i >= len(kept.Accounts) {
			j.vault.Log.Warn(context.Background(), "the cookie with provider tokens has no room for an account: its user has to connect it again", "provider", a.provider)
			continue
		}
		if h := kept.Accounts[i]; h.Access == "" && a.tokens.AccessToken != "" {
			j.rows.hold(of, accountOf(h), a.tokens)
		}
	}
	return nil
}

// AccessToken returns a usable access token of a session's newest account at a provider.
// It renews a token that needs it, or waits for a renewal of another request, and puts
// the new tokens into the cookie. It ends the cookie of another session. With o.ReadOnly
// it renews nothing and leaves the cookie alone: a token that needs renewal is
// ErrRefresh. An unknown provider is ErrInvalidProvider. Without an account of the
// provider's present client the error is ErrReconnect. Others are those of
// [vault.Vault.AccessToken].
func (j *Jar) AccessToken(ctx context.Context, c *browser.Cookies, of Session, provider string, o vault.Options) (storage.Tokens, error) {
	p := j.vault.Providers[provider]
	if p == nil {
		return storage.Tokens{}, failure.WrapFor(fault.ErrInvalidProvider, provider, errors.New("no configured OAuth provider has this id"))
	}
	t, foreign := j.read(c, of)
	if foreign && !o.ReadOnly {
		c.EndTokenCookie()
	}
	wanted := slices.IndexFunc(t.Accounts, func(h browser.HeldTokens) bool { return h.Provider == provider })
	if wanted < 0 {
		return storage.Tokens{}, failure.WrapFor(fault.ErrReconnect, provider, &fault.TokenError{})
	}
	a := j.rows.newest(of, accountOf(t.Accounts[wanted]))
	if a.grant != p.Grant {
		return storage.Tokens{}, failure.WrapFor(fault.ErrReconnect, provider, &fault.TokenError{Code: "other_client"})
	}
	o.Wait = true
	handle := j.rows.use(of, a)
	tokens, err := j.vault.AccessToken(ctx, vault.Ref{UserID: of.Subject, Provider: provider, AccountID: handle}, o)
	j.rows.release(handle)
	if o.ReadOnly {
		return tokens, err
	}
	if failed := j.renew(c, of, &t); failed != nil && err == nil {
		j.vault.Log.Warn(ctx, "renewed provider tokens could not be put into the cookie", "provider", provider, "error", failed.Error())
	}
	return tokens, err
}

// renew sends the cookie again if this process knows newer tokens of one of its accounts,
// or if the cookie is older than a day.
func (j *Jar) renew(c *browser.Cookies, of Session, t *browser.TokenCookie) error {
	all := make([]account, len(t.Accounts))
	isOld := !j.vault.Now().Before(t.Issued.Add(resealAfter))
	for i, h := range t.Accounts {
		all[i] = j.rows.newest(of, accountOf(h))
		now := all[i].held()
		isOld = isOld || now.Refresh != h.Refresh || now.Expires != h.Expires || h.Access != "" && now.Access != h.Access
	}
	if !isOld {
		return nil
	}
	return j.put(c, of, all)
}
