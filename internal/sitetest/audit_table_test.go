package sitetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/users"
)

// auditDesk is a store whose audit log can be broken, and whose transactions can be
// asked to run twice.
type auditDesk struct {
	*memoryadapter.Adapter
	broken, twice *atomic.Bool
	alone         *atomic.Int64 // counts calls of Append outside a transaction
	isInTx        bool
}

func newAuditDesk() auditDesk {
	return auditDesk{Adapter: memoryadapter.New(memoryadapter.Options{}), broken: new(atomic.Bool), twice: new(atomic.Bool), alone: new(atomic.Int64)}
}

func (s auditDesk) Audit() storage.AuditStore { return auditShelf{s.Adapter.Audit(), s} }

func (s auditDesk) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	run := func(end error) error {
		return s.Adapter.InTx(ctx, func(a storage.Adapter) error {
			inside := s
			inside.Adapter, inside.isInTx = a.(*memoryadapter.Adapter), true
			if err := f(inside); err != nil {
				return err
			}
			return end
		})
	}
	if s.twice.Load() {
		if err := run(errAgain); !errors.Is(err, errAgain) {
			return err
		}
	}
	return run(nil)
}

var errAgain = errors.New("serialization failure")

type auditShelf struct {
	storage.AuditStore
	desk auditDesk
}

func (s auditShelf) Append(ctx context.Context, records []storage.AuditRecord) error {
	if !s.desk.isInTx {
		s.desk.alone.Add(1)
	}
	if s.desk.broken.Load() {
		return errors.New("permission denied for table audit_events")
	}
	return s.AuditStore.Append(ctx, records)
}

// recorded is a site that keeps its audit log in a store, and hears every event.
type recorded struct {
	*oauthSite
	desk  auditDesk
	heard []latchkey.Event
	lines *logBuffer
}

func newRecorded(t *testing.T, change ...func(*latchkey.Config)) *recorded {
	t.Helper()
	s := &recorded{desk: newAuditDesk(), lines: &logBuffer{}}
	s.oauthSite = newOAuthSite(t, append([]func(*latchkey.Config){func(c *latchkey.Config) {
		c.Adapter = s.desk
		c.Operations.Audit.Store, c.Operations.Audit.Logger = true, s.lines.logger()
		c.Runtime.Background = func(f func(context.Context)) { f(context.Background()) }
		c.Events.Observe = func(_ context.Context, e latchkey.Event) error { s.heard = append(s.heard, e); return nil }
	}}, change...)...)
	s.store = s.desk.Adapter
	return s
}

// kept returns the records in the order in which they were made.
func (s *recorded) kept() []storage.AuditRecord {
	rows := s.desk.Contents().Audit
	slices.SortFunc(rows, func(a, b storage.AuditRecord) int { return strings.Compare(a.ID, b.ID) })
	return rows
}

// types lists types and outcomes of the records.
func (s *recorded) types() string {
	var all []string
	for _, r := range s.kept() {
		all = append(all, r.Type+" "+r.Outcome)
	}
	return strings.Join(all, ", ")
}

func TestAuditTable(t *testing.T) {
	for name, strategy := range strategies {
		t.Run(name, func(t *testing.T) {
			s := newRecorded(t, strategy)
			b := s.newBrowser()
			b.header.Set("User-Agent", "canary-agent\x1b[31m\n")
			b.post("/auth/callback/crew", "username", "canary-name", "password", "canary-password")
			s.mustSignIn(b)
			b.post("/auth/signout")
			rows := s.kept()
			t.Run("O-023 every event once, as it is told and written", func(t *testing.T) {
				if got := s.types(); !strings.Contains(got, "user.created success") || strings.Count(got, "sign_in success") != 1 || !strings.Contains(got, "session.ended success") ||
					strings.Count(got, "sign_in failure") != 1 || !strings.Contains(got, "account.linked success") {
					t.Fatalf("%s", got)
				}
				var told, written, stored []string
				for _, e := range s.heard {
					told = append(told, e.ID)
				}
				for _, r := range s.lines.records(t) {
					written = append(written, r["id"].(string))
				}
				for _, r := range rows {
					stored = append(stored, r.ID)
				}
				for _, ids := range [][]string{told, written, stored} {
					slices.Sort(ids)
				}
				if !slices.Equal(told, written) || !slices.Equal(told, stored) {
					t.Errorf("told %d, written %d, stored %d: the ids differ\n%s", len(told), len(written), len(stored), s.types())
				}
			})
			t.Run("O-023 the sign-in and its end name the same session", func(t *testing.T) {
				i := slices.IndexFunc(rows, func(r storage.AuditRecord) bool { return r.Type == "sign_in" && r.Outcome == "success" })
				j := slices.IndexFunc(rows, func(r storage.AuditRecord) bool { return r.Type == "session.ended" })
				if in, out := rows[i], rows[j]; in.SessionID == "" || in.SessionID != out.SessionID || in.UserID == "" || in.UserID != out.UserID {
					t.Errorf("%+v and %+v", in, out)
				}
			})
			t.Run("O-025 nothing that was typed, and no address", func(t *testing.T) {
				text, _ := json.Marshal(rows)
				for _, r := range rows {
					text = append(append(text, r.Data...), r.Personal...)
				}
				for _, canary := range []string{"canary-name", "canary-password", "@example.com", siteSecret, "\x1b", "issuer's"} {
					if strings.Contains(string(text), canary) {
						t.Errorf("the table has %q", canary)
					}
				}
			})
		})
	}
}

// O-038: what ends in the middle leaves both, the change and its record, or neither.
func TestAuditInTheTransaction(t *testing.T) {
	s := newRecorded(t, stored)
	b := s.newBrowser()
	s.mustSignIn(b)
	b.post("/auth/signout")
	if n := s.desk.alone.Load(); n != 0 || !strings.Contains(s.types(), "session.ended success") {
		t.Errorf("%d records were stored outside the transaction of their change: %s", n, s.types())
	}
}

// O-034: what a transaction told that ran again is kept once.
func TestAuditOfRepeatedTransactions(t *testing.T) {
	for name, strategy := range strategies {
		s := newRecorded(t, strategy)
		s.desk.twice.Store(true)
		s.mustSignIn(s.newBrowser())
		if got := s.types(); strings.Count(got, "sign_in success") != 1 || strings.Count(got, "user.created") != 1 || len(s.kept()) != len(s.heard) {
			t.Errorf("O-034 %s: %s", name, got)
		}
	}
}

// O-035: without its audit log a site goes on and says so, unless the log is required.
func TestAuditLogThatTakesNothing(t *testing.T) {
	for name, strategy := range strategies {
		t.Run("O-035 required, "+name, func(t *testing.T) {
			s := newRecorded(t, strategy, func(c *latchkey.Config) { c.Operations.Audit.Required = true })
			b := s.newBrowser()
			s.mustSignIn(b)
			id := onlyUser(t, s.oauthSite)
			s.desk.broken.Store(true)
			refused(t, s.signIn(s.newBrowser()), "Configuration")
			before := s.desk.Contents()
			if a := s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "wonderland"); strategy == nil && a.signsIn() {
				t.Error("a sign-in that writes nothing is not recorded, and let in")
			}
			if _, err := s.auth.Users().Update(t.Context(), id, users.Change{Name: ptr("Eve")}); !errors.Is(err, latchkey.ErrAudit) {
				t.Errorf("Update: %v", err)
			}
			if err := s.auth.Users().Delete(t.Context(), id); !errors.Is(err, latchkey.ErrAudit) {
				t.Errorf("Delete: %v", err)
			}
			if after := s.desk.Contents(); len(after.Users) != 1 || after.Users[0].Name != before.Users[0].Name || len(after.Sessions) != len(before.Sessions) {
				t.Errorf("something was written: %+v", after.Users)
			}
			thief := b.copy()
			b.post("/auth/signout")
			if b.isLive() {
				t.Error("the sign-out is not done")
			}
			dead(t, thief)
			if !strings.Contains(s.log.text(), "audit.store") || !strings.Contains(s.log.text(), "AuditError") {
				t.Error("the log has no word of it")
			}
			for _, r := range s.log.records(t) {
				if text := fmt.Sprint(r["error"]); r["detail"] == "audit.store" && r["alert"] == nil && !strings.Contains(text, "latchkey migrate") {
					t.Errorf("R-787 the line of a visitor's code says %s", text)
				}
			}
		})
		t.Run("O-035 not required, "+name, func(t *testing.T) {
			s := newRecorded(t, strategy)
			s.desk.broken.Store(true)
			b := s.newBrowser()
			s.mustSignIn(b)
			b.post("/auth/signout")
			if len(s.kept()) != 0 || !strings.Contains(s.log.text(), `"alert":true`) {
				t.Fatalf("%d records, log %s", len(s.kept()), s.log.text())
			}
			lost := len(s.heard)
			s.desk.broken.Store(false)
			s.mustSignIn(s.newBrowser())
			if err := s.auth.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
			page, err := s.auth.Audit().List(t.Context(), latchkey.AuditQuery{Type: event.AuditFailed})
			if err != nil || len(page.Events) != 1 || page.Events[0].Count != lost {
				t.Errorf("%+v, %v; want the number %d", page.Events, err, lost)
			}
		})
	}
}

func ptr[T any](v T) *T { return &v }

// O-049: what a store cannot keep is refused by name.
func TestAuditAbilities(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*latchkey.Config)
		want   string
	}{
		"O-049 no audit store": {func(c *latchkey.Config) {
			c.Adapter, c.Operations.Audit.Store = struct{ storage.Adapter }{c.Adapter}, true
		}, "Operations.Audit.Store needs an Adapter that is a AuditAdapter"},
		"O-049 no adapter":             {func(c *latchkey.Config) { c.Adapter, c.Operations.Audit.Store = nil, true }, "Operations.Audit.Store needs an Adapter"},
		"O-035 required without store": {func(c *latchkey.Config) { c.Operations.Audit.Required = true }, "Required needs Operations.Audit.Store"},
		"O-035 required, no transactions": {func(c *latchkey.Config) {
			c.Adapter = struct {
				storage.Adapter
				storage.AuditAdapter
			}{c.Adapter, newAuditDesk()}
			c.Operations.Audit.Store, c.Operations.Audit.Required = true, true
		}, "TxAdapter"},
		"O-035 required, sessions apart": {func(c *latchkey.Config) {
			c.Session.Store, c.Session.Strategy = newApartStore(), latchkey.DatabaseSessions
			c.Operations.Audit.Store, c.Operations.Audit.Required = true, true
		}, "leave Session.Store out"},
	} {
		t.Run(name, func(t *testing.T) {
			config := newSite(t).config
			config.Providers = config.Providers[2:]
			c.change(&config)
			if _, err := latchkey.New(config); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	t.Run("O-049 nothing else changes", func(t *testing.T) {
		s := newSite(t)
		if _, err := s.auth.Audit().List(t.Context(), latchkey.AuditQuery{}); !errors.Is(err, latchkey.ErrInvalidConfig) {
			t.Errorf("%v", err)
		}
		s.newBrowser().signIn()
		if n := len(s.store.Contents().Audit); n != 0 {
			t.Errorf("O-001 %d records", n)
		}
	})
}

// O-045: after an erasure nothing of the person is left, and the events are.
func TestAuditErasure(t *testing.T) {
	for name, strategy := range strategies {
		s := newRecorded(t, strategy)
		s.mustSignIn(s.newBrowser())
		id := onlyUser(t, s.oauthSite)
		before := len(s.kept())
		boss := event.WithActor(t.Context(), event.Actor{Kind: event.ActorAdmin, ID: "boss"})
		if err := s.auth.Users().Erase(boss, id); err != nil {
			t.Fatal(err)
		}
		if err := s.auth.Shutdown(t.Context()); err != nil { // waits for what is revoked at the provider
			t.Fatal(err)
		}
		rows := s.kept()
		text, _ := json.Marshal(rows)
		for _, r := range rows {
			text = append(append(text, r.Data...), r.Personal...)
		}
		if strings.Contains(string(text), id) {
			t.Errorf("O-045 %s: the table has the user's id: %s", name, text)
		}
		if got := s.types(); len(rows) <= before || !strings.Contains(got, "user.deleted success") || strings.Count(got, "user.erased success") != 1 || !strings.Contains(got, "token.disconnected success") {
			t.Errorf("O-045 %s: %s", name, got)
		}
		page, err := s.auth.Audit().List(t.Context(), latchkey.AuditQuery{Type: event.UserErased})
		if err != nil || len(page.Events) != 1 || !page.Events[0].Erased || page.Events[0].By.ID != "boss" {
			t.Errorf("O-045 %s: %+v, %v", name, page.Events, err)
		}
	}
}

// failures that are still folded when their user, or the log of the user, is erased
// name no user later.
func TestErasureOfFoldedFailures(t *testing.T) {
	for name, erase := range map[string]func(*latchkey.Auth, string) error{
		"Users.Erase": func(a *latchkey.Auth, id string) error { return a.Users().Erase(t.Context(), id) },
		"AuditLog.Erase": func(a *latchkey.Auth, id string) error {
			_, err := a.Audit().Erase(t.Context(), id)
			return err
		},
	} {
		s := newManagedSite(t, latchkey.DatabaseSessions, func(c *latchkey.Config) {
			c.Operations.Audit.Store, c.Limits.Disabled = true, true
		})
		ann, b := s.addUser(annMail, annsPass), s.newBrowser()
		for range 15 {
			b.tries(annMail, "wrong password")
		}
		if err := errors.Join(erase(s.auth, ann.ID), s.auth.Shutdown(t.Context())); err != nil {
			t.Fatal(err)
		}
		rows := s.store.Contents().Audit
		folded := slices.ContainsFunc(rows, func(r storage.AuditRecord) bool { return strings.Contains(string(r.Data), `"count":5`) })
		for _, r := range rows {
			if r.Type == string(event.SignIn) && (r.UserID != "" || r.Client != "" || strings.Contains(string(r.Personal)+string(r.Data), ann.ID)) {
				t.Errorf("R-664 %s: %+v %s %s", name, r, r.Data, r.Personal)
			}
		}
		if !folded {
			t.Errorf("%s: no failures were folded: %d records", name, len(rows))
		}
	}
}

// O-046: Sweep removes what is old enough, and erases earlier what is personal.
func TestAuditRetention(t *testing.T) {
	s := newRecorded(t, func(c *latchkey.Config) { c.Operations.Audit.KeepPersonal = 30 * 24 * time.Hour })
	s.mustSignIn(s.newBrowser())
	n := len(s.kept())
	sweep := func() {
		t.Helper()
		if _, err := s.auth.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if sweep(); len(s.kept()) != n {
		t.Errorf("O-046 %s", s.types())
	}
	s.clock.Advance(31 * 24 * time.Hour)
	sweep()
	for _, r := range s.kept()[:n] {
		if r.UserID != "" || r.Personal != nil || r.Client != "" {
			t.Errorf("O-045 %+v", r)
		}
	}
	s.clock.Advance(401 * 24 * time.Hour)
	sweep()
	if got := s.types(); got != "audit.pruned success" {
		t.Errorf("O-046 %s", got)
	}
}

// O-047, O-048: lists are complete, have one tenant's events, and leave a trace.
func TestAuditLists(t *testing.T) {
	s := newRecorded(t)
	log, boss := s.auth.Audit(), event.WithActor(t.Context(), event.Actor{Kind: event.ActorAdmin, ID: "boss"})
	for range 25 {
		if err := log.Record(t.Context(), latchkey.Event{Type: "app.export", UserID: "42"}); err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(time.Second)
	}
	q := latchkey.AuditQuery{UserID: "42", Type: "app.", Limit: 10}
	var ids []string
	var next string
	for {
		page, err := log.List(boss, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Events {
			ids = append(ids, e.ID)
		}
		if next == "" {
			next = page.Next
		}
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	t.Run("O-047 pages are complete, the newest first", func(t *testing.T) {
		if len(ids) != 25 || !slices.IsSortedFunc(ids, func(a, b string) int { return strings.Compare(b, a) }) {
			t.Errorf("%d events: %v", len(ids), ids)
		}
		n := 0
		for e, err := range log.All(boss, latchkey.AuditQuery{Type: "app.export", Limit: 3}) {
			if err != nil || e.UserID != "42" {
				t.Fatal(e, err)
			}
			n++
		}
		if n != 25 {
			t.Errorf("All has %d", n)
		}
	})
	t.Run("O-048 reading is an event, once a list", func(t *testing.T) {
		page, err := log.List(t.Context(), latchkey.AuditQuery{Type: event.AuditRead})
		if err != nil || len(page.Events) != 2 || page.Events[1].By != (event.Actor{Kind: event.ActorAdmin, ID: "boss"}) || page.Events[1].UserID != "42" {
			t.Errorf("%+v, %v", page.Events, err)
		}
	})
	t.Run("O-047 a cursor is for its query alone", func(t *testing.T) {
		for what, q := range map[string]latchkey.AuditQuery{
			"of another query": {UserID: "43", Type: "app.", After: next},
			"altered":          {UserID: "42", Type: "app.", After: next[:len(next)-2] + "xx"},
			"none":             {After: "x"},
			"long":             {After: strings.Repeat("x", 1<<20)},
		} {
			if _, err := log.List(t.Context(), q); !errors.Is(err, latchkey.ErrInvalidConfig) {
				t.Errorf("%s: %v", what, err)
			}
		}
		s.clock.Advance(25 * time.Hour)
		if _, err := log.List(t.Context(), latchkey.AuditQuery{UserID: "42", Type: "app.", After: next}); err == nil {
			t.Error("it opens after a day")
		}
	})
	t.Run("O-047 what makes no sense is refused", func(t *testing.T) {
		for _, q := range []latchkey.AuditQuery{{Limit: -1}, {Limit: 1001}, {Outcome: "maybe"}, {UserID: "a\x00"}, {Client: strings.Repeat("x", 300)}, {From: time.Unix(2, 0), Before: time.Unix(1, 0)}} {
			if _, err := log.List(t.Context(), q); !errors.Is(err, latchkey.ErrInvalidConfig) {
				t.Errorf("%+v: %v", q, err)
			}
		}
		if err := log.Record(t.Context(), latchkey.Event{Type: event.SignIn}); !errors.Is(err, latchkey.ErrInvalidConfig) {
			t.Errorf("an event that only the library makes: %v", err)
		}
	})
	t.Run("R-737 the client of the application's own event is kept", func(t *testing.T) {
		in := latchkey.Event{Type: "app.import", Client: "192.0.2.7", UserAgent: "importer/1", RequestID: "r-7"}
		if err := log.Record(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		page, err := log.List(t.Context(), latchkey.AuditQuery{Type: in.Type})
		if err != nil || len(page.Events) != 1 {
			t.Fatalf("%+v, %v", page.Events, err)
		}
		if got := page.Events[0]; got.Client != in.Client || got.UserAgent != in.UserAgent || got.RequestID != in.RequestID {
			t.Errorf("%+v", got)
		}
		if got := s.heard[len(s.heard)-2]; got.Client != in.Client || got.UserAgent != in.UserAgent || got.RequestID != in.RequestID {
			t.Errorf("told: %+v", got)
		}
	})
	t.Run("O-047 by reference code", func(t *testing.T) {
		s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "wrong")
		code := s.heard[len(s.heard)-1].Reference
		page, err := log.List(t.Context(), latchkey.AuditQuery{Reference: code})
		if err != nil || code == "" || len(page.Events) != 1 || page.Events[0].Reference != code {
			t.Errorf("%q: %+v, %v", code, page.Events, err)
		}
	})
}

// O-047: a tenant's list has nothing of another tenant.
func TestAuditOfTenants(t *testing.T) {
	desk := newAuditDesk()
	auth, err := latchkey.NewTenants(latchkey.Tenants{
		Name: func(context.Context, *latchkey.Request) (string, error) { return "acme", nil },
		Config: func(context.Context, string) (*latchkey.Config, error) {
			c := newSite(t).config
			c.Adapter, c.Operations.Audit.Store = desk, true
			c.Secrets = []string{siteSecret}
			return &c, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []string{"acme", "globex"} {
		ctx := latchkey.ContextWithTenant(t.Context(), tenant)
		if err := auth.Audit().Record(ctx, latchkey.Event{Type: "app.x", UserID: tenant}); err != nil {
			t.Fatal(err)
		}
		page, err := auth.Audit().List(ctx, latchkey.AuditQuery{Type: "app."})
		if err != nil || len(page.Events) != 1 || page.Events[0].UserID != tenant || page.Events[0].Tenant != tenant {
			t.Errorf("O-047 %s: %+v, %v", tenant, page.Events, err)
		}
	}
}

// O-074: Shutdown writes what the audit log of each tenant still folds.
func TestShutdownOfTenants(t *testing.T) {
	var lines logBuffer
	site := newSite(t)
	config := site.config
	config.Operations.Audit.Logger, config.Limits.Disabled = lines.logger(), true
	auth, err := latchkey.NewTenants(latchkey.Tenants{
		Name:   func(_ context.Context, r *latchkey.Request) (string, error) { return r.Host, nil },
		Config: func(context.Context, string) (*latchkey.Config, error) { c := config; return &c, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	site.auth = auth
	b := site.newBrowser()
	for range 25 {
		b.post("/auth/callback/crew", "username", "alice", "password", "wrong")
	}
	if err := auth.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	tries := 0
	for _, r := range lines.records(t) {
		n, _ := r["count"].(float64)
		tries += max(int(n), 1)
	}
	if tries != 25 {
		t.Errorf("O-074: the log has %d of 25 tries: %s", tries, lines.text())
	}
}

// O-023 R-604: a sign-in that fails, or that Callbacks.Token refuses, is no success in the
// table.
func TestAuditOfRefusedSignIns(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(latchkey.Claims) (latchkey.Claims, error)
		want   string
	}{
		"no claims": {func(latchkey.Claims) (latchkey.Claims, error) { return nil, nil }, "sign_in failure"},
		"an error":  {func(latchkey.Claims) (latchkey.Claims, error) { return nil, errors.New("no") }, "sign_in failure"},
		"too long": {func(c latchkey.Claims) (latchkey.Claims, error) {
			c["huge"] = strings.Repeat("x", 80<<10)
			return c, nil
		}, "sign_in failure"},
		"none of it": {func(c latchkey.Claims) (latchkey.Claims, error) { return c, nil }, "sign_in success"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRecorded(t, func(config *latchkey.Config) {
				config.Callbacks.Token = func(_ context.Context, i latchkey.TokenInfo) (latchkey.Claims, error) { return c.answer(i.Claims) }
			})
			s.signIn(s.newBrowser())
			s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "wonderland")
			if err := s.auth.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := s.types(); strings.Count(got, "sign_in") != 2 || strings.Count(got, c.want) != 2 {
				t.Errorf("%s, want twice %q", got, c.want)
			}
		})
	}
}
