// Package admin has pages and a JSON API for a support desk: staff find users, see how
// they sign in, suspend, change, export and delete them.
//
//	pages, err := admin.New(auth, admin.Options{
//		Staff: func(ctx context.Context, u latchkey.User) (bool, error) { return staff[u.ID], nil },
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	http.Handle("/admin/", pages)
//
// It uses nothing that an application could not use itself: package latchkey, and the
// calls of package users.
package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/users"
)

// Options say who may use the pages, and for what.
type Options struct {
	// Staff reports whether a user may use the pages. Decide by the id, never by the
	// e-mail address. It is asked at every request, about the signed-in user and about
	// the user that an action is for. An error, a panic, and no answer within five
	// seconds refuse. Required.
	Staff func(ctx context.Context, u latchkey.User) (bool, error)
	// Allow returns an error for an action that a staff member may not do. The pages then
	// hide its button and refuse its request. Allow is bounded as Staff is. nil:
	// everything but ActAs and Recover is allowed.
	Allow func(ctx context.Context, a Attempt) error

	Path   string        // of the pages, as browsers see it; empty: /admin
	Shift  time.Duration // staff may look for this long after they have signed in or proven who they are; 0: 12 hours
	Recent time.Duration // they may change something for this long; 0: 15 minutes

	// SharedUsers says that staff may see the users of every tenant that shares the
	// Adapter of theirs. New refuses a site with tenants without it.
	SharedUsers bool
	// Text replaces texts of the pages. It gets the language and the key of a text, and
	// the text as it would be; "" keeps that. nil: nothing is replaced.
	Text func(language, key, text string) string
}

// Attempt is what a staff member is about to do.
type Attempt struct {
	Session *latchkey.Session
	Action  Action
	User    latchkey.User // that it is done to; zero: none
}

// Action is what staff do.
type Action string

// The actions. Those from Suspend on are the last part of a path, too.
const (
	List   Action = "list" // and search
	View   Action = "view"
	Create Action = "create"

	Suspend       Action = "suspend"
	Restore       Action = "restore"
	Update        Action = "update"
	Email         Action = "email"   // begin a change of the e-mail address
	Recover       Action = "recover" // replace the address of a user who has lost the mailbox; only with Options.Allow
	SignInLink    Action = "sign-in-link"
	PasswordReset Action = "password-reset"
	EndSessions   Action = "end-sessions"
	Unlink        Action = "unlink"
	RemovePasskey Action = "remove-passkey"
	ResetFactors  Action = "reset-factors"
	Export        Action = "export"
	ActAs         Action = "act-as" // only with Options.Allow
	Delete        Action = "delete"
)

// Handler serves the pages and the JSON of the same paths. It is an [http.Handler], and
// safe for concurrent use. [New] makes it, with defaults in Options: do not change them. The
// zero Handler is of no use.
type Handler struct {
	auth  *latchkey.Auth
	core  *latchkey.Core
	users *users.Users
	Options
	deeds map[Action]*deed
	clock func() time.Time
}

// New returns the pages for the users of auth. It needs a Config.Adapter, and returns an
// error without one, or an error that names the option that is wrong.
func New(auth *latchkey.Auth, o Options) (*Handler, error) {
	o.Path = strings.TrimRight(cmp.Or(o.Path, "/admin"), "/")
	o.Shift, o.Recent = cmp.Or(o.Shift, 12*time.Hour), cmp.Or(o.Recent, 15*time.Minute)
	switch {
	case auth == nil:
		return nil, errors.New("admin: there is no Auth")
	case o.Staff == nil:
		return nil, errors.New("admin: set Options.Staff, which says who may use the pages")
	case !strings.HasPrefix(o.Path, "/") || strings.ContainsAny(o.Path, "?#%"):
		return nil, errors.New("admin: Options.Path: want a path of the site, such as /admin")
	case o.Shift < 0 || o.Recent < 0:
		return nil, errors.New("admin: Options.Shift and Recent must not be negative; zero is the default")
	case auth.Core().HasTenants() && !o.SharedUsers:
		return nil, errors.New("admin: tenants that share an Adapter share the users of these pages: set Options.SharedUsers if staff of one may see those of all")
	}
	if _, err := auth.Users().Capabilities(context.Background()); errors.Is(err, latchkey.ErrMissingAdapter) {
		return nil, fmt.Errorf("admin: the pages need a Config.Adapter: %w", err)
	}
	return &Handler{auth: auth, core: auth.Core(), users: auth.Users(), Options: o, deeds: deeds(), clock: time.Now}, nil
}

// ServeHTTP answers r by Serve, or by [latchkey.Auth.WriteError] for an error of Serve. A
// body that is too large gets 413. Mount the handler on its path, such as "/admin/".
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req, err := latchkey.FromHTTP(r)
	if errors.Is(err, latchkey.ErrBodyTooLarge) {
		w.Header().Set("Connection", "close")
		http.Error(w, "The request is too large.", http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		http.Error(w, "The request could not be read.", http.StatusBadRequest)
		return
	}
	res, err := h.Serve(r.Context(), req)
	if err != nil {
		h.auth.WriteError(w, r, err)
		return
	}
	res.Send(w)
}

// Serve answers r, for frameworks without net/http. r has its body. Every response has
// Cache-Control: no-store and the cookies that keep the session alive. The error is a
// fault that no page could be made for, such as a host that the site does not trust;
// [latchkey.Core.ErrorResponse] answers it.
func (h *Handler) Serve(ctx context.Context, r *latchkey.Request) (*latchkey.Response, error) {
	ctx = h.core.Attach(ctx, func() *latchkey.Request { return r })
	c := &call{Handler: h, r: r, json: wantsJSON(r)}
	res, err := c.answer(ctx)
	if err != nil {
		return nil, err
	}
	if res.Header == nil {
		res.Header = http.Header{}
	}
	for name, values := range h.core.Renewal(ctx) {
		if name != "Cache-Control" {
			res.Header[name] = append(res.Header[name], values...)
		}
	}
	res.Header.Set("Cache-Control", "no-store")
	return res, nil
}

// wantsJSON reports whether the answer has to be JSON: by its Content-Type the body is
// JSON, or Accept names application/json and not text/html.
func wantsJSON(r *latchkey.Request) bool {
	accept := r.Header.Get("Accept")
	return isJSON(r) || strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// isJSON reports whether the Content-Type says that the body is JSON.
func isJSON(r *latchkey.Request) bool {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/json")
}
