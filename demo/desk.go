package main

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/admin"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// The support desk of the demo: pages of package admin with users to find, the audit
// log, a reference code to explain, and the health of the site.

const crowdSize = 300

// suspended returns the user whom the desk keeps out: the newest of the crowd.
func suspended() latchkey.User { return latchkeytest.Crowd(crowdSize)[crowdSize-1] }

// staff has the ids of the users that the password of the front page has signed in.
type staff struct{ ids sync.Map }

func (s *staff) add(id string) { s.ids.Store(id, true) }

// has reports whether a user is staff. It decides by the id: any visitor may type the
// address of another.
func (s *staff) has(_ context.Context, u latchkey.User) (bool, error) {
	_, is := s.ids.Load(u.ID)
	return is, nil
}

// observed has the site keep its audit log in the database and show reference codes.
func observed(c latchkey.Config) latchkey.Config {
	c.Operations = latchkey.Operations{ShowReference: true, Audit: latchkey.Audit{Store: true}}
	return c
}

// addCrowd stores the users of the desk, and suspends one, once for a data folder: a later
// start changes nothing. Of several demos that start at once, one adds the users.
func (d *site) addCrowd(ctx context.Context) error {
	done := filepath.Join(d.data, "crowd")
	if _, err := os.Stat(done); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := d.store.InTx(ctx, func(tx storage.Adapter) error {
		for _, u := range latchkeytest.Crowd(crowdSize) {
			if _, err := tx.CreateUser(ctx, u); err != nil {
				return err
			}
		}
		return nil
	})
	if err = ignoring(err, latchkey.ErrConflict); err == nil {
		err = d.store.Suspensions().Put(ctx, suspended().ID, storage.Suspension{Since: time.Now(), Reason: "shows what a suspended user sees"})
	}
	if err != nil {
		return err
	}
	return os.WriteFile(done, nil, 0o600)
}

// addDesk mounts the pages of the desk.
func (d *site) addDesk(mux *http.ServeMux) error {
	pages, err := admin.New(d.auth, admin.Options{Staff: d.staff.has})
	if err != nil {
		return err
	}
	mux.Handle("/admin/", pages)
	mux.HandleFunc("GET /desk", d.desk)
	mux.Handle("GET /audit", d.auth.RequireSession(http.HandlerFunc(d.auditLog)))
	mux.HandleFunc("GET /health", d.health)
	mux.Handle("GET /livez", d.auth.HealthHandler())
	mux.Handle("GET /readyz", d.auth.HealthHandler())
	return nil
}

func (d *site) desk(w http.ResponseWriter, r *http.Request) {
	d.show(w, r, http.StatusOK, "desk", "Support desk", struct {
		Username, Suspended string
		Users               int
		Staff               bool
	}{aliceName, suspended().Email, crowdSize, d.isStaff(r)})
}

func (d *site) isStaff(r *http.Request) bool {
	session := latchkey.SessionFrom(r.Context())
	if session == nil {
		return false
	}
	is, err := d.staff.has(r.Context(), latchkey.User{ID: session.UserID})
	return is && err == nil
}

// auditLog shows staff one page of the audit log, and records that. Others get status 404.
func (d *site) auditLog(w http.ResponseWriter, r *http.Request) {
	if !d.isStaff(r) {
		d.notFound(w, r)
		return
	}
	ctx := event.WithActor(r.Context(), event.Actor{Kind: event.ActorAdmin, ID: latchkey.SessionFrom(r.Context()).UserID})
	page, err := d.auth.Audit().List(ctx, latchkey.AuditQuery{After: r.URL.Query().Get("after"), Limit: 50})
	switch {
	case errors.Is(err, latchkey.ErrInvalidConfig): // the link to the next page has been changed, or is a day old
		http.Redirect(w, r, "/audit", http.StatusSeeOther)
	case err != nil:
		d.fail(w, r, err)
	default:
		d.show(w, r, http.StatusOK, "audit", "Audit log", page)
	}
}

// health shows what the site knows of its parts.
func (d *site) health(w http.ResponseWriter, r *http.Request) {
	d.show(w, r, http.StatusOK, "health", "Health", d.auth.Health(r.Context()))
}
