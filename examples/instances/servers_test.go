//go:build linux

package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func postgresURL(t *testing.T) string {
	server := realservers.Postgres(t, false)
	return fmt.Sprintf("postgres://latchkey@/postgres?host=%s&port=%d", url.QueryEscape(server.Dir), server.Port)
}

func mariadbURL(t *testing.T) string {
	socket := realservers.MariaDB(t)
	db, err := sql.Open("mysql", "root@unix("+socket+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE site"); err != nil {
		t.Fatal(err)
	}
	return "mysql://root@localhost/site?socket=" + url.QueryEscape(socket)
}

func TestOnServers(t *testing.T) {
	for _, database := range []struct {
		name string
		url  func(*testing.T) string // of an empty database
	}{
		{"PostgreSQL", postgresURL},
		{"MariaDB", mariadbURL},
	} {
		t.Run(database.name, func(t *testing.T) {
			databaseURL := database.url(t)
			for _, strategy := range strategies {
				t.Run(string(strategy), func(t *testing.T) {
					b, server, w := newPair(t, settings{databaseURL: databaseURL, strategy: strategy})
					drive(t, b, server.URL, w)
				})
			}
		})
	}
}

// TestOnRedis keeps users in PostgreSQL and everything else in a Redis Cluster. The
// loss of a primary signs no user out.
func TestOnRedis(t *testing.T) {
	cluster := realservers.NewRedisCluster(t)
	redisURL := "redis://" + cluster.Addrs[0] + "?addr=" + strings.Join(cluster.Addrs[1:], "&addr=")
	databaseURL := postgresURL(t)
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			b, server, w := newPair(t, settings{databaseURL: databaseURL, redisURL: redisURL, strategy: strategy})
			drive(t, b, server.URL, w)
		})
	}
	t.Run("a primary is lost", func(t *testing.T) {
		_, server, w := newPair(t, settings{databaseURL: databaseURL, redisURL: redisURL})
		var browsers []*latchkeytest.Client
		for range 12 {
			c := latchkeytest.NewClientAt(t, server.URL)
			c.SignIn(w.issuer)
			browsers = append(browsers, c)
		}
		cluster.Nodes[2].AwaitCopies(t)
		cluster.Lose(t, 2, func() {
			for i, c := range browsers {
				for deadline := time.Now().Add(race.Patience(time.Minute)); c.Get("/").Status != http.StatusOK; {
					if time.Now().After(deadline) {
						t.Fatalf("browser %d was signed out by the loss of a server", i)
					}
				}
			}
		})
		for _, c := range browsers {
			greetedBy(t, c, ada.Email)
			c.SignOut()
		}
	})
}
