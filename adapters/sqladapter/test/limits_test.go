package test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// twenty is a rate of which a test sees no second round.
var twenty = storage.Rate{Events: 20, Per: 20 * time.Hour}

// crowd calls f from so many callers and counts who got a yes.
func crowd(t *testing.T, callers int, f func(i int) (bool, error)) int {
	t.Helper()
	var yes atomic.Int64
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range callers {
		all.Go(func() {
			<-start
			good, err := f(i)
			if err != nil {
				t.Errorf("caller %d: %v", i, err)
			}
			if good {
				yes.Add(1)
			}
		})
	}
	close(start)
	all.Wait()
	return int(yes.Load())
}

// TestLimits: what the instances of a site count together.
func TestLimits(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := e.migrated(t, empty)
		all := []*sqladapter.Adapter{e.adapter(t, db, sqladapter.Options{})}
		for range 2 {
			all = append(all, e.adapter(t, another(t, db), sqladapter.Options{}))
		}
		one := all[0]
		take := func(t *testing.T, key string, r storage.Rate) time.Duration {
			t.Helper()
			wait, err := one.Take(t.Context(), key, r)
			ok(t, err)
			return wait
		}
		t.Run("S-057 of a hundred callers of three instances exactly twenty are admitted", func(t *testing.T) {
			admitted := crowd(t, 100, func(i int) (bool, error) {
				wait, err := all[i%3].Take(t.Context(), "race", twenty)
				if wait < 0 || wait > time.Hour {
					t.Errorf("caller %d waits %v", i, wait)
				}
				return wait == 0, err
			})
			if admitted != 20 {
				t.Errorf("%d were admitted", admitted)
			}
		})
		t.Run("S-057 of a hundred callers one is the first to use a value, and again when it has expired", func(t *testing.T) {
			for _, c := range []struct {
				key     string
				expires time.Time
			}{{"live", time.Now().Add(time.Hour)}, {"passed", time.Now().Add(-time.Hour)}} {
				first := crowd(t, 100, func(i int) (bool, error) {
					return all[i%3].Use(t.Context(), c.key, c.expires.Add(time.Duration(i%3)*5*time.Second)) // their clocks differ
				})
				if live := c.key == "live"; live != (first == 1) || first == 0 {
					t.Errorf("%s: %d were the first", c.key, first)
				}
			}
		})
		t.Run("rates that do not divide are never exceeded", func(t *testing.T) {
			for i, r := range []storage.Rate{{Events: 7, Per: time.Hour}, {Events: 3, Per: time.Hour + time.Nanosecond}, {Events: 1, Per: 200 * 365 * 24 * time.Hour}} {
				n := 0
				for ; n <= r.Events && take(t, "odd"+strconv.Itoa(i), r) == 0; n++ {
				}
				if n != r.Events {
					t.Errorf("%v: %d were admitted", r, n)
				}
			}
			if wait := take(t, "any number", storage.Rate{Events: 1 << 62, Per: time.Nanosecond}) + take(t, "no rate", storage.Rate{}); wait != 0 {
				t.Errorf("waits %v", wait)
			}
		})
		t.Run("what has passed is swept", func(t *testing.T) {
			n, err := one.Sweep(t.Context(), time.Now().Add(400*24*time.Hour))
			ok(t, err)
			left := count(t, db, "SELECT count(*) FROM limits") + count(t, db, "SELECT count(*) FROM used_values")
			if n != 6 || left != 1 { // the one that is full for 200 years
				t.Errorf("removed %d, and %d are left", n, left)
			}
		})
		t.Run("S-057 of a hundred callers in three processes exactly twenty are admitted", func(t *testing.T) {
			if admitted := takenByProcesses(t, e, db); admitted != 20 {
				t.Errorf("%d were admitted", admitted)
			}
		})
	})
}

// TestInstancesShareLimits: tries at one instance are counted at the other, where
// the site is hardened or names the store.
func TestInstancesShareLimits(t *testing.T) {
	e := engines[0]
	for name, hardened := range map[string]bool{"hardened": true, "named": false} {
		t.Run(name, func(t *testing.T) {
			db := e.migrated(t, e.start(t))
			var instances [2]*latchkey.Auth
			for i := range instances {
				a := e.adapter(t, db, sqladapter.Options{})
				c := latchkey.Config{
					Site: latchkey.Site{URL: raceOrigin}, Secrets: []string{"one secret for both of the instances"}, Hardened: hardened, Adapter: a,
					Session: latchkey.SessionConfig{Strategy: latchkey.JWTSessions},
					Providers: []latchkey.Provider{&latchkey.Credentials{
						Authorize: func(_ context.Context, form map[string]string, _ *latchkey.Request) (storage.User, error) {
							if form["password"] != "right" {
								return storage.User{}, latchkey.ErrCredentialsSignin
							}
							return storage.User{ID: "ada", Name: "Ada"}, nil
						},
						AccountField: "name",
					}},
					Runtime: latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
				}
				if !hardened {
					c.Limits = latchkey.Limits{Limiter: a, Replay: a}
				}
				var err error
				instances[i], err = latchkey.New(c)
				ok(t, err)
			}
			try := func(i int, password string) bool {
				browser := raceBrowser{}
				browser.send(instances[i%2], "/auth/callback/credentials", url.Values{"name": {"ada"}, "password": {password}})
				_, session := browser.send(instances[0], "/auth/session", nil)
				return session != "null"
			}
			if !try(0, "right") {
				t.Fatal("the right password was refused")
			}
			for i := range 20 {
				try(i, "wrong")
			}
			if try(0, "right") || try(1, "right") {
				t.Error("twenty wrong tries were not counted together")
			}
		})
	}
}

// TestOlderTables holds that a database without the tables of limits counts nothing, says
// so, and serves users as before.
func TestOlderTables(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := e.migrated(t, empty)
		for _, table := range []string{"limits", "used_values"} {
			exec(t, db, "DROP TABLE "+table)
		}
		without := sqlstore.Layout{Names: map[string]string{"limits": "", "used_values": ""}}
		for name, a := range map[string]*sqladapter.Adapter{
			"without the tables": e.adapter(t, db, sqladapter.Options{}), "a layout without": e.adapter(t, db, sqladapter.Options{Layout: without}),
		} {
			t.Run(name, func(t *testing.T) {
				_, tried := a.Take(t.Context(), "k", twenty)
				_, used := a.Use(t.Context(), "k", time.Now().Add(time.Hour))
				for what, err := range map[string]error{
					"Take": tried, "Use": used, "Return": a.Return(t.Context(), "k", twenty), "Forget": a.Forget(t.Context(), "k"),
				} {
					if !errors.Is(err, errors.ErrUnsupported) {
						t.Errorf("%s: %v", what, err)
					}
				}
				if n, err := a.Sweep(t.Context(), time.Now()); n != 0 || err != nil {
					t.Errorf("Sweep: %d, %v", n, err)
				}
				if _, err := a.GetUser(t.Context(), "nobody"); !errors.Is(err, storage.ErrNotFound) {
					t.Errorf("GetUser: %v", err)
				}
			})
		}
		_, err := e.adapter(t, db, sqladapter.Options{}).Take(t.Context(), "k", twenty)
		says(t, "what is to be done", err, "limits: there is no such table", "`latchkey migrate`")
	})
}

// TestSweepUnderADeadline: S-058, a sweep that is ended keeps what it has done, and
// the next goes on, while others read.
func TestSweepUnderADeadline(t *testing.T) {
	const rows = 25_000
	each(t, func(t *testing.T, e engine, empty source) {
		db := e.migrated(t, empty)
		a := e.adapter(t, db, sqladapter.Options{})
		for from := 0; from < rows; from += 1000 {
			list := make([]string, 1000)
			for i := range list {
				list[i] = fmt.Sprintf("('k%d', %s)", from+i, map[bool]string{true: "'2001-01-01'", false: "1"}[e.dialect == sqladapter.Postgres])
			}
			exec(t, db, e.quoted(`INSERT INTO used_values ("key", expires) VALUES `)+strings.Join(list, ", "))
		}
		total, left := 0, rows
		for call := 0; left > 0; call++ {
			if call == 10 {
				t.Fatalf("%d rows are left after ten calls", left)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var watch sync.WaitGroup
			watch.Go(func() { // the deadline comes when something is done
				for ctx.Err() == nil {
					if call == 0 && count(t, db, "SELECT count(*) FROM used_values") < rows {
						cancel()
					}
					if _, err := a.GetUser(t.Context(), "nobody"); !errors.Is(err, storage.ErrNotFound) {
						t.Errorf("somebody else is held up: %v", err)
						return
					}
				}
			})
			n, err := a.Sweep(ctx, time.Now())
			cancel()
			watch.Wait()
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("call %d: %v", call, err)
			}
			if now := count(t, db, "SELECT count(*) FROM used_values"); now < left {
				left = now
			} else {
				t.Fatalf("call %d removed nothing", call)
			}
			total += n
		}
		if total != rows { // what was cancelled is rolled back
			t.Errorf("R-543: counted %d of %d", total, rows)
		}
	})
}

// TestStoreHasNoClock: S-057, instances whose clocks differ agree, since the store
// reads none of them.
func TestStoreHasNoClock(t *testing.T) {
	files, err := fs.Glob(os.DirFS("../../sqlstore"), "*.go")
	ok(t, err)
	for _, file := range files {
		source, err := os.ReadFile("../../sqlstore/" + file)
		ok(t, err)
		switch file {
		case "touched.go": // writes when a row was written, if a layout wants that: nothing is decided by it
			continue
		case "sweep.go": // measures how long a batch takes
			continue
		}
		if !strings.HasSuffix(file, "_test.go") && strings.Contains(string(source), "time.Now") {
			t.Errorf("%s asks the clock of the instance", file)
		}
	}
	if len(files) < 10 {
		t.Errorf("%d files", len(files))
	}
}
