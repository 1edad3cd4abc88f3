package main

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/password"
	"github.com/latchkeyhq/latchkey/providers"
	"github.com/latchkeyhq/latchkey/ui"
	"github.com/latchkeyhq/latchkey/webauthn"
)

// site is the demo: an http.Handler and what it holds open.
type site struct {
	settings
	http.Handler
	auth  *latchkey.Auth
	store *store
	mails mailbox
	staff staff
	own   *latchkeytest.Issuer // nil: another one is used
}

func newSite(ctx context.Context, s settings) (_ *site, err error) {
	d := &site{settings: s}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	if d.mails, err = newMailbox(filepath.Join(s.data, "mails")); err != nil {
		return nil, err
	}
	if err := d.prepareStore(ctx); err != nil {
		return nil, err
	}
	if d.issuer == "" {
		if d.own, err = startIssuer(); err != nil {
			return nil, err
		}
		d.issuer = d.own.URL
	}
	if d.auth, err = latchkey.New(observed(d.config())); err != nil {
		return nil, err
	}
	d.Handler, err = d.routes()
	return d, err
}

// prepareStore opens the database, drops what has expired, and stores alice and the crowd.
func (d *site) prepareStore(ctx context.Context) (err error) {
	if d.store, err = openStore(ctx, d.data); err != nil {
		return err
	}
	if _, err := d.store.Sweep(ctx, time.Now()); err != nil {
		return err
	}
	u, err := alice(ctx, d.store)
	if err != nil {
		return err
	}
	d.staff.add(u.ID)
	return d.addCrowd(ctx)
}

// Close stops the identity provider and closes the database.
func (d *site) Close() error {
	if d.own != nil {
		d.own.Close()
	}
	if d.store != nil {
		return d.store.close()
	}
	return nil
}

// config is everything the demo configures.
func (d *site) config() latchkey.Config {
	return latchkey.Config{
		Providers:   d.providers(),
		Adapter:     d.store,
		Secrets:     d.secrets,
		Site:        latchkey.Site{URL: d.url, AllowedHosts: []string{"localhost:*", "127.0.0.1:*"}},
		Session:     latchkey.SessionConfig{Strategy: d.strategy},
		AccountPage: latchkey.AccountPage{Enabled: true, Edit: latchkey.EditName | latchkey.EditImage, Activity: true, Export: true},
		Theme:       latchkey.Theme{Name: "Latchkey demo", Logo: "/logo.svg", Icon: "/favicon.ico"},
		Texts:       latchkey.Texts{Text: hint},
		Mail:        latchkey.Mail{From: "Latchkey demo <demo@localhost>", Send: d.mails.send},
		Factors:     latchkey.Factors{Kinds: []latchkey.FactorKind{latchkey.FactorTOTP, latchkey.FactorPasskey, latchkey.FactorRecovery}},
		Invitations: true,
		Runtime:     latchkey.Runtime{Logger: d.log, Time: d.now},
	}
}

func (d *site) providers() []latchkey.Provider {
	list := []latchkey.Provider{connected(&latchkey.OAuth{
		ID: "demo", Name: "Demo ID", OIDC: true,
		Issuer: d.issuer, ClientID: clientID, ClientSecret: clientSecret,
	})}
	if d.github {
		list = append(list, providers.GitHub(latchkey.OAuth{}))
	}
	if d.google {
		list = append(list, providers.Google(latchkey.OAuth{}))
	}
	return append(list,
		&latchkey.Email{Name: "a magic link", Send: d.mails.send},
		&latchkey.Credentials{
			Name: "password",
			Fields: []latchkey.Field{
				{Name: "username", Label: "Name", Autocomplete: "username"},
				{Name: "password", Label: "Password", Type: "password"},
			},
			Authorize: d.checkPassword,
		},
		password.Provider(latchkey.Password{ID: "own", OfferPasskey: true}, password.Options{}),
		webauthn.Passkey(latchkey.WebAuthn{}))
}

// routes says what is where.
func (d *site) routes() (http.Handler, error) {
	mux := http.NewServeMux()
	mux.Handle("/auth/", d.auth)
	mux.HandleFunc("GET /{$}", d.home)
	mux.Handle("GET /members", d.auth.RequireSession(http.HandlerFunc(d.members)))
	mux.Handle("POST /invite", http.NewCrossOriginProtection().Handler(d.auth.RequireSession(http.HandlerFunc(d.invite))))
	mux.Handle("GET /safe", d.auth.RequireRecent(time.Minute)(http.HandlerFunc(d.safe)))
	mux.Handle("GET /profile", d.auth.RequireSession(http.HandlerFunc(d.profile)))
	components := http.HandlerFunc(d.components)
	mux.Handle("GET /components", components)
	mux.Handle("POST /components", d.auth.SignInAction(components))
	mux.Handle("POST /signout", d.auth.SignOutAction(nil))
	mux.Handle("GET /components.css", ui.Stylesheet())
	mux.HandleFunc("GET /live.js", asset("live.js", "text/javascript; charset=utf-8"))
	mux.HandleFunc("GET /mailbox", d.mailbox)
	mux.HandleFunc("GET /mailbox/{id}", d.letter)
	mux.HandleFunc("GET /style.css", asset("style.css", "text/css; charset=utf-8"))
	mux.HandleFunc("GET /logo.svg", asset("logo.svg", "image/svg+xml"))
	mux.HandleFunc("GET /favicon.ico", asset("icon.svg", "image/svg+xml"))
	mux.HandleFunc("/", d.notFound)
	d.addTokens(mux)
	return d.known(d.auth.LoadSession(mux)), d.addDesk(mux)
}

// known refuses requests for other hosts. Without it, a site elsewhere whose
// name is made to mean this machine could read the mailbox (DNS rebinding).
func (d *site) known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := d.auth.ActionURL(r, "signin"); err != nil {
			http.Error(w, "This site does not go by that name.", http.StatusBadRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// sessions returns where sessions are kept, for people to read.
func (d *site) sessions() string {
	if d.strategy == latchkey.JWTSessions {
		return "in the cookie; users in SQLite"
	}
	return "in SQLite"
}
