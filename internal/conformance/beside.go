package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// drizzle makes a schema with the tables of Drizzle, which Auth.js uses as well. users is
// the library's adapter for them. Through suite, Auth.js writes what the suite puts there,
// and reads what the suite asks for.
func drizzle(ctx context.Context) (users, suite full, err error) {
	tables, err := os.ReadFile(os.Getenv("TABLES"))
	if err != nil {
		return nil, nil, err
	}
	pool, schema, err := postgresSchema(ctx, string(tables))
	if err != nil {
		return nil, nil, err
	}
	layout, err := sqlstore.SharedWith(sqlstore.Postgres, "drizzle")
	if err != nil {
		return nil, nil, err
	}
	adapter, err := pgxadapter.New(pool, pgxadapter.Options{Layout: layout})
	if err != nil {
		return nil, nil, err
	}
	js, err := dialPeer(os.Getenv("PEER"), schema)
	return adapter, beside{adapter, js}, err
}

// postgresSchema makes a schema on the server POSTGRES and runs the SQL text tables in it.
func postgresSchema(ctx context.Context, tables string) (pool *pgxpool.Pool, schema string, err error) {
	config, err := pgxpool.ParseConfig(os.Getenv("POSTGRES"))
	if err != nil {
		return nil, "", err
	}
	schema = newName()
	config.MaxConns, config.ConnConfig.RuntimeParams["search_path"] = 4, schema
	if pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, "", err
	}
	_, err = pool.Exec(ctx, "CREATE SCHEMA "+schema+"; "+tables)
	return pool, schema, err
}

// peer is a connection to the program that has Auth.js' adapter. It lasts as long as the app.
type peer struct {
	mu   sync.Mutex
	conn net.Conn
	out  *bufio.Scanner
}

func dialPeer(addr, schema string) (*peer, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	p := &peer{conn: conn, out: bufio.NewScanner(conn)}
	return p, p.ask(schema, nil)
}

// call calls a method and stores its result in into, unless that is nil. null is ErrNotFound.
func (p *peer) call(into any, method string, args ...any) error {
	line, err := json.Marshal(map[string]any{"method": method, "args": args})
	if err != nil {
		return err
	}
	return p.ask(string(line), into)
}

func (p *peer) ask(line string, into any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := fmt.Fprintln(p.conn, line); err != nil {
		return err
	}
	if !p.out.Scan() {
		return fmt.Errorf("the peer is gone: %w", p.out.Err())
	}
	var answer struct {
		Result json.RawMessage
		Error  string
	}
	switch err := json.Unmarshal(p.out.Bytes(), &answer); {
	case err != nil:
		return err
	case answer.Error != "":
		return errors.New(answer.Error)
	case into == nil:
		return nil
	case string(answer.Result) == "null":
		return latchkey.ErrNotFound
	}
	return json.Unmarshal(answer.Result, into)
}

// beside is a store whose rows go through Auth.js where the suite looks at them or
// puts them there.
type beside struct {
	full
	js *peer
}

// userWire is a user as Auth.js has it.
type userWire struct {
	ID            string     `json:"id,omitempty"`
	Name          *string    `json:"name"`
	Email         *string    `json:"email"`
	EmailVerified *time.Time `json:"emailVerified"`
	Image         *string    `json:"image"`
}

func (w userWire) user() latchkey.User {
	u := latchkey.User{ID: w.ID, Name: deref(w.Name), Email: deref(w.Email), EmailVerified: deref(w.EmailVerified), Image: deref(w.Image)}
	u.EmailVerified = u.EmailVerified.UTC()
	return u
}

func (b beside) CreateUser(_ context.Context, u latchkey.User) (latchkey.User, error) {
	w := userWire{u.ID, orNull(u.Name), orNull(u.Email), orNull(u.EmailVerified), orNull(u.Image)}
	err := b.js.call(&w, "createUser", w)
	return w.user(), err
}

func (b beside) GetUser(_ context.Context, id string) (latchkey.User, error) {
	var w userWire
	err := b.js.call(&w, "getUser", id)
	return w.user(), err
}

// ListAccounts lists them itself, since Auth.js has no such call, and has Auth.js
// read each.
func (b beside) ListAccounts(ctx context.Context, userID string) ([]latchkey.Account, error) {
	list, err := b.full.ListAccounts(ctx, userID)
	for i, a := range list {
		var r storage.AccountRecord
		err = errors.Join(err, b.js.call(&r, "getAccount", a.ProviderAccountID, a.Provider))
		list[i] = latchkey.Account(r)
	}
	return list, err
}

func (b beside) CreateSession(_ context.Context, s storage.StoredSession) error {
	return b.js.call(nil, "createSession", storage.StoredSessionRecord(s))
}

func (b beside) GetSession(_ context.Context, token string) (storage.StoredSession, error) {
	var found struct{ Session storage.StoredSessionRecord }
	err := b.js.call(&found, "getSessionAndUser", token)
	return storage.StoredSession(found.Session), err
}

func (b beside) DeleteSession(_ context.Context, token string) (storage.StoredSession, error) {
	return storage.StoredSession{}, b.js.call(nil, "deleteSession", token)
}

// orNull returns a pointer to v, or nil for a zero value.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// deref returns what p points to, or a zero value for nil.
func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
