package latchkey

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/page"
)

// The account page, and what an application's own settings page is made of.

// ErrLastAccount reports that an account was not unlinked because it is the
// last way in that its user has.
var ErrLastAccount = errors.New("latchkey: this is the only way to sign in that is left")

// Accounts lists the provider accounts of a user. It needs an Adapter that is an
// [AccountAdapter].
func (a *Auth) Accounts(ctx context.Context, userID string) ([]Account, error) {
	s, err := a.storeFor(ctx)
	if err != nil {
		return nil, err
	}
	if _, ok := s.a.(AccountAdapter); !ok {
		return nil, lacks(s, "Accounts", "AccountAdapter")
	}
	return s.accounts(ctx, userID)
}

// UnlinkAccount takes an account away from a user. An account of somebody else
// is ErrNotFound; the last way in is ErrLastAccount.
func (a *Auth) UnlinkAccount(ctx context.Context, userID, provider, providerAccountID string) error {
	v, err := a.caretaker(ctx)
	if err != nil {
		return err
	}
	if _, ok := v.store.a.(AccountAdapter); !ok {
		return lacks(v.store, "UnlinkAccount", "AccountAdapter")
	}
	err = v.unlink(ctx, userID, provider, providerAccountID)
	v.tellAll(ctx)
	return err
}

// Sessions lists the stored sessions of a user: their devices.
// It needs an Adapter that is a [SessionListAdapter].
func (a *Auth) Sessions(ctx context.Context, userID string) ([]StoredSession, error) {
	s, err := a.storeFor(ctx)
	if err != nil {
		return nil, err
	}
	if _, ok := s.a.(SessionListAdapter); !ok {
		return nil, lacks(s, "Sessions", "SessionListAdapter")
	}
	return s.sessions(ctx, userID)
}

// EndSession signs a user out on one device, named by [StoredSession].ID.
func (a *Auth) EndSession(ctx context.Context, userID, sessionID string) error {
	s, err := a.storeFor(ctx)
	if err != nil {
		return err
	}
	if _, ok := s.a.(SessionListAdapter); !ok {
		return lacks(s, "EndSession", "SessionListAdapter")
	}
	return s.deleteSessionByID(ctx, userID, sessionID)
}

// EndSessions signs a user out everywhere, but not in the session called keep
// (empty: there too). JWT sessions end when there are [SessionConfig].Revocations,
// all of them: none can be kept.
func (a *Auth) EndSessions(ctx context.Context, userID, keep string) error {
	v, err := a.caretaker(ctx)
	if err != nil {
		return err
	}
	return v.endSessions(ctx, v.store, userID, keep)
}

// DeleteUser removes a user with their accounts and sessions. It needs an
// Adapter that is a [UserDeletionAdapter].
func (a *Auth) DeleteUser(ctx context.Context, userID string) error {
	v, err := a.caretaker(ctx)
	if err != nil {
		return err
	}
	err = v.deleteUser(ctx, userID)
	v.tellAll(ctx)
	return err
}

// caretaker is a visit by nobody, for work that the application asks for. Under
// NewFunc the context has to say which tenant it is for: the request is empty.
func (a *Auth) caretaker(ctx context.Context) (*visit, error) {
	r := &Request{Method: http.MethodGet, URL: &url.URL{}, Header: http.Header{}}
	s, err := a.setupFor(ctx, r)
	if err != nil {
		return nil, publicError(err)
	}
	if s.store == nil {
		return nil, ErrMissingAdapter.because(errors.New("set Config.Adapter"))
	}
	return &visit{setup: s, request: r, action: "account"}, nil
}

func (a *Auth) storeFor(ctx context.Context) (*store, error) {
	v, err := a.caretaker(ctx)
	if err != nil {
		return nil, err
	}
	return v.store, nil
}

func lacks(s *store, who, ability string) error {
	return ErrMissingAdapterMethods.because(errors.New(who + " needs an Adapter that is a " + ability))
}

// unlink checks and acts in one transaction where the store has them.
func (v *visit) unlink(ctx context.Context, userID, provider, id string) error {
	told := len(v.after)
	err := v.store.inTx(ctx, func(ctx context.Context, s *store) error {
		v.after = v.after[:told]
		u, err := s.user(ctx, userID)
		if err != nil {
			return err
		}
		accounts, err := s.accounts(ctx, userID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(accounts, func(a Account) bool { return a.Provider == provider && a.ProviderAccountID == id })
		if i < 0 {
			return ErrNotFound
		}
		keys, err := s.authenticators(ctx, userID)
		if err != nil {
			return err
		}
		if v.waysIn(&u, slices.Delete(slices.Clone(accounts), i, i+1), keys) == 0 {
			return ErrLastAccount
		}
		gone, err := s.unlinkAccount(ctx, provider, id)
		if err != nil {
			return err
		}
		if told := v.Events.UnlinkAccount; told != nil {
			v.tell("unlinkAccount", func(ctx context.Context) error { return told(ctx, LinkAccountEvent{User: u, Account: gone}) })
		}
		return v.endSignUp(ctx, s, &gone)
	})
	if err != nil {
		v.after = v.after[:told]
	}
	return err
}

// waysIn counts how a user could sign in: with an account of a provider that is
// still configured, with a passkey where those are accepted, or with a link to a
// proven address.
func (v *visit) waysIn(u *User, accounts []Account, keys []Authenticator) int {
	n := 0
	if v.offers(TypeWebAuthn) {
		n = len(keys)
	}
	for _, a := range accounts {
		if _, ok := v.providers[a.Provider]; ok && a.Type != TypeWebAuthn {
			n++
		}
	}
	if u.Email != "" && !u.EmailVerified.IsZero() && v.offers(TypeEmail) {
		n++
	}
	return n
}

// offers tells whether a provider of the kind is configured.
func (v *visit) offers(kind ProviderType) bool {
	return slices.ContainsFunc(v.order, func(p provider) bool { return p.info().kind == kind })
}

func (v *visit) deleteUser(ctx context.Context, id string) error {
	u, err := v.store.deleteUser(ctx, id)
	if err != nil {
		return err
	}
	if err := v.revokeUser(ctx, v.store, id); err != nil {
		return err
	}
	v.tellUser("deleteUser", v.Events.DeleteUser, u)
	return nil
}

// member is who is signed in, for pages that only they may see.
func (v *visit) member(ctx context.Context) (*holder, error) {
	here, err := v.sessions.current(ctx, v)
	if err == nil && here == nil {
		err = RespondWith(&Response{Redirect: v.signInAddress(v.url("account"))})
	}
	return here, err
}

// accountPage answers GET /account.
func (v *visit) accountPage(ctx context.Context) (*Response, error) {
	here, err := v.member(ctx)
	if err != nil {
		return v.follow(ctx, nil, err)
	}
	if v.query.Get("do") == "delete" {
		return v.show(v.pages.DeleteAccount(page.DeleteAccount{
			CSRFToken: v.csrf, Action: v.url("account?do=delete"), CancelURL: v.url("account"), Name: firstOf(here.user.Email, here.user.Name),
		}))
	}
	view, err := v.accountView(ctx, here)
	if err != nil {
		return nil, err
	}
	return v.show(v.pages.Account(view))
}

func (v *visit) accountView(ctx context.Context, here *holder) (page.Account, error) {
	view := page.Account{
		CSRFToken: v.csrf, CallbackURL: v.url("account"), Name: here.user.Name, Email: here.user.Email,
		Notice: v.query.Get("done"), Error: v.query.Get("error"),
		UnlinkAction: v.url("account?do=unlink"), SignOutURL: v.url("signout"), FormOrigins: v.formOrigins(),
	}
	if _, ok := v.store.a.(UserDeletionAdapter); ok {
		view.DeleteURL = v.url("account?do=delete")
	}
	accounts, err := v.store.accounts(ctx, here.user.ID)
	if err != nil {
		return view, err
	}
	keys, err := v.store.authenticators(ctx, here.user.ID)
	if err != nil {
		return view, err
	}
	v.addAccounts(&view, accounts, func(i int) bool {
		return v.waysIn(&here.user, slices.Delete(slices.Clone(accounts), i, i+1), keys) > 0
	})
	sessions, err := v.store.sessions(ctx, here.user.ID)
	if err != nil {
		return view, err
	}
	if len(sessions) > 0 && v.Session.Strategy == DatabaseSessions {
		view.EndAction, view.OthersAction = v.url("account?do=end"), v.url("account?do=others")
		v.addDevices(&view, sessions, here)
	}
	return view, nil
}

// addAccounts lists what is linked, and what could be.
func (v *visit) addAccounts(view *page.Account, accounts []Account, removable func(int) bool) {
	linked := map[string]bool{}
	for i, a := range accounts {
		linked[a.Provider] = true
		shown := page.Provider{ID: a.Provider, Name: a.Provider}
		if p, ok := v.providers[a.Provider]; ok {
			shown = page.Provider{ID: a.Provider, Name: p.info().name, Icon: p.info().style.Icon, Brand: p.info().style.Color}
		}
		view.Linked = append(view.Linked, page.Linked{Provider: shown, ProviderAccountID: a.ProviderAccountID, Removable: removable(i)})
	}
	for _, b := range v.buttons() {
		if (b.Type == page.OAuth || b.Type == page.OIDC) && !linked[b.ID] {
			view.Providers = append(view.Providers, b)
		}
	}
}

func (v *visit) addDevices(view *page.Account, sessions []StoredSession, here *holder) {
	now := v.now()
	for _, s := range sessions {
		if now.Before(s.Expires) {
			view.Devices = append(view.Devices, page.Device{
				ID: s.ID, Name: deviceName(s.UserAgent), Seen: s.Created, This: s.ID != "" && s.ID == here.sessionID,
			})
		}
	}
}

// deviceName makes a few words of a browser's description; empty: unknown.
func deviceName(agent string) string {
	pick := func(table [][2]string) string {
		for _, row := range table {
			if strings.Contains(agent, row[0]) {
				return row[1]
			}
		}
		return ""
	}
	browser := pick([][2]string{{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser", "Samsung Internet"}, {"Firefox", "Firefox"}, {"FxiOS", "Firefox"}, {"CriOS", "Chrome"}, {"Chrome", "Chrome"}, {"Safari", "Safari"}, {"curl/", "curl"}})
	system := pick([][2]string{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"}})
	if browser != "" && system != "" {
		return browser + " on " + system
	}
	return firstOf(browser, system)
}

// changeAccount answers POST /account.
func (v *visit) changeAccount(ctx context.Context) (*Response, error) {
	here, err := v.member(ctx)
	if err != nil {
		return v.follow(ctx, nil, err)
	}
	id := here.user.ID
	back := func(name, value string) *Response { return &Response{Redirect: v.url("account?" + name + "=" + value)} }
	switch v.query.Get("do") {
	case "unlink":
		err := v.unlink(ctx, id, v.field("provider"), v.field("providerAccountId"))
		if errors.Is(err, ErrLastAccount) {
			return back("error", "last"), nil
		}
		return back("done", "unlinked"), ignoring(err, ErrNotFound)
	case "end":
		return back("done", "ended"), ignoring(v.store.deleteSessionByID(ctx, id, v.field("session")), ErrNotFound)
	case "others":
		return back("done", "others"), v.endSessions(ctx, v.store, id, here.sessionID)
	case "delete":
		if v.field("confirm") != "delete" {
			return back("error", "confirm"), nil
		}
		if err := v.deleteUser(ctx, id); err != nil {
			return nil, err
		}
		v.clearSession()
		return &Response{Redirect: v.origin.text}, nil
	}
	return nil, ErrUnknownAction.because(errors.New("the account page knows no such change"))
}

// ignoring is err, unless it is one that changes nothing for the visitor.
func ignoring(err, harmless error) error {
	if errors.Is(err, harmless) {
		return nil
	}
	return err
}
