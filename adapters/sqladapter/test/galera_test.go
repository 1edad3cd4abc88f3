package test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	mathrand "math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

// anyNode connects to one of the nodes of a cluster that answers, as a proxy does.
type anyNode []realservers.Node

func (a anyNode) dsn(i int) string {
	return "root@unix(" + a[i].Socket + ")/auth?interpolateParams=true&wsrep_sync_wait=7"
}

func (a anyNode) Connect(ctx context.Context) (c driver.Conn, err error) {
	for _, i := range mathrand.Perm(len(a)) {
		var to driver.Connector
		if to, err = (mysql.MySQLDriver{}).OpenConnector(a.dsn(i)); err != nil {
			return nil, err
		}
		if c, err = to.Connect(ctx); err == nil {
			return c, nil
		}
	}
	return nil, err
}

func (anyNode) Driver() driver.Driver { return mysql.MySQLDriver{} }

// TestGalera shares one cluster, which takes its time to start.
func TestGalera(t *testing.T) {
	nodes := anyNode(realservers.Galera(t))
	e := engines[2]
	exec(t, open(t, "mysql", "root@unix("+nodes[0].Socket+")/"), "CREATE DATABASE auth")
	ok(t, sqladapter.Migrate(t.Context(), open(t, "mysql", nodes.dsn(0)), e.dialect, sqladapter.Options{}))
	db := sql.OpenDB(nodes)
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(24)

	t.Run("S-010 each call at a node that chance picks", func(t *testing.T) {
		db.SetMaxIdleConns(-1)
		empty := e.emptied(db, sqladapter.Options{Unprepared: true})
		storagetest.TestAdapter(t, func(t *testing.T) storage.Adapter { return empty(t) }, promises(galeraExceptions)...)
		latchkeytest.TestUnlink(t, func(t *testing.T) storage.Adapter { return empty(t) })
		storagetest.TestStores(t, func(t *testing.T) any { return empty(t) })
	})
	t.Run("S-066 a node is killed under load, and joins again", func(t *testing.T) {
		db.SetMaxIdleConns(24)
		e.emptied(db, sqladapter.Options{})(t)
		killed := nodes[2]
		e.through(t, db, killed.Kill)
		e.through(t, db, func() { killed.Rejoin(t) })
	})
}

// through opens sessions from eight callers while something happens to a server,
// and until each has opened some afterwards. Those that were acknowledged are there.
func (e engine) through(t *testing.T, db *sql.DB, happens func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	a := e.adapter(t, db, sqladapter.Options{})
	u, err := a.CreateUser(ctx, storage.User{Name: "Ada"})
	ok(t, err)
	over := make(chan struct{})
	var acknowledged sync.Map
	var begun, all sync.WaitGroup
	for range 8 {
		begun.Add(1)
		all.Go(func() {
			underWay := sync.OnceFunc(begun.Done)
			defer underWay()
			for stored, after := 0, 0; after < 20; {
				isOver := false
				select {
				case <-over:
					isOver = true
				default:
				}
				token := rand.Text()
				err := a.CreateSession(ctx, storage.StoredSession{Token: token, UserID: u.ID, Expires: time.Now().Add(time.Hour)})
				if ctx.Err() != nil {
					t.Errorf("nothing is stored any more: %v", err)
					return
				}
				if errors.Is(err, storage.ErrNotFound) {
					t.Error("a node has not heard of the user")
				}
				if err != nil {
					continue
				}
				acknowledged.Store(token, true)
				if stored++; stored == 20 {
					underWay()
				}
				if isOver {
					after++
				}
			}
		})
	}
	begun.Wait()
	happens()
	close(over)
	all.Wait()
	acknowledged.Range(func(token, _ any) bool {
		if _, err := a.GetSession(t.Context(), token.(string)); err != nil {
			t.Errorf("%s was acknowledged: %v", token, err)
		}
		return true
	})
}
