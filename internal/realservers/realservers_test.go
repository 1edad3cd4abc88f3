//go:build linux

package realservers_test

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/realservers"
)

func TestPostgresBySocket(t *testing.T) {
	p := realservers.Postgres(t, false)
	answers(t, "unix", p.Dir+"/.s.PGSQL."+strconv.Itoa(p.Port))
	if dsn := p.DSN("postgres"); !strings.Contains(dsn, "host="+p.Dir) {
		t.Errorf("DSN is %q", dsn)
	}
}

func TestShared(t *testing.T) {
	var servers realservers.Shared
	var first realservers.PG
	t.Run("the first test", func(t *testing.T) { first = servers.Postgres(t) })
	socket := first.Dir + "/.s.PGSQL." + strconv.Itoa(first.Port)
	t.Run("the second", func(t *testing.T) {
		if second := servers.Postgres(t); second.Dir != first.Dir {
			t.Error("it has another server")
		}
		answers(t, "unix", socket)
	})
	servers.Close()
	if c, err := net.Dial("unix", socket); err == nil {
		_ = c.Close()
		t.Error("the server still answers")
	}
}

func TestPostgresOverTCP(t *testing.T) {
	p := realservers.Postgres(t, true)
	answers(t, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p.Port)))
	if dsn := p.DSN("postgres"); !strings.Contains(dsn, "host=127.0.0.1 port="+strconv.Itoa(p.Port)) {
		t.Errorf("DSN is %q", dsn)
	}
}

func TestPgBouncer(t *testing.T) {
	p := realservers.PgBouncer(t, realservers.Postgres(t, false))
	answers(t, "unix", p.Dir+"/.s.PGSQL."+strconv.Itoa(p.Port))
}

func TestPostgresComesBackAfterACrash(t *testing.T) {
	p := realservers.Postgres(t, false)
	socket := p.Dir + "/.s.PGSQL." + strconv.Itoa(p.Port)
	p.Crash()
	if c, err := net.Dial("unix", socket); err == nil {
		_ = c.Close()
		t.Error("the server still answers")
	}
	p.Restart(t)
	answers(t, "unix", socket)
}

func TestMariaDB(t *testing.T) {
	answers(t, "unix", realservers.MariaDB(t))
}

func TestRedis(t *testing.T) {
	r := realservers.NewRedis(t)
	answers(t, "unix", r.Addr)
	r.Crash()
	if c, err := net.Dial("unix", r.Addr); err == nil {
		_ = c.Close()
		t.Error("the server still answers")
	}
	r.Restart(t)
	if said := r.Ask(t, "PING"); !strings.HasPrefix(said, "+PONG") {
		t.Errorf("it says %q", said)
	}
}

func TestRedisCluster(t *testing.T) {
	c := realservers.NewRedisCluster(t)
	for _, addr := range c.Addrs {
		answers(t, "tcp", addr)
	}
	c.Nodes[0].AwaitCopies(t)
	if said := c.Nodes[3].Ask(t, "ROLE"); !strings.Contains(said, "slave") {
		t.Errorf("the fourth node says %q", said)
	}
}

func TestNATS(t *testing.T) {
	n := realservers.NewNATS(t)
	addr := strings.TrimPrefix(n.URL, "nats://")
	n.Crash()
	if c, err := net.Dial("tcp", addr); err == nil {
		_ = c.Close()
		t.Error("the server still answers")
	}
	n.Restart(t)
	answers(t, "tcp", addr)
}

func TestRedisSentinel(t *testing.T) {
	s := realservers.NewRedisSentinel(t)
	for _, addr := range append(s.Addrs, s.Primary.Addr, s.Replica.Addr) {
		answers(t, "tcp", addr)
	}
}

// TestServersEndWithTheTest looks for a socket when the test that asked for it
// is over.
func TestServersEndWithTheTest(t *testing.T) {
	var socket string
	t.Run("server", func(t *testing.T) {
		p := realservers.Postgres(t, false)
		socket = p.Dir + "/.s.PGSQL." + strconv.Itoa(p.Port)
	})
	if c, err := net.Dial("unix", socket); err == nil {
		_ = c.Close()
		t.Error("the server still answers")
	}
}

func answers(t *testing.T, network, addr string) {
	t.Helper()
	c, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}
