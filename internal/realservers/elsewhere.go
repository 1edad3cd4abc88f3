//go:build !linux

package realservers

import (
	"os"
	"testing"
)

// PG stands for a server on systems where none is started, so that tests build.
type PG struct {
	Dir  string
	Port int
}

// DSN reaches nothing.
func (PG) DSN(string) string { return "" }

// Crash does nothing.
func (PG) Crash() {}

// Restart skips the test.
func (PG) Restart(t testing.TB) { skip(t) }

// Postgres skips the test.
func Postgres(t testing.TB, _ bool) PG {
	t.Helper()
	skip(t)
	return PG{}
}

// Stop does nothing.
func (PG) Stop() {}

// Follow skips the test.
func (PG) Follow(t testing.TB, _ PG) { skip(t) }

// Standby skips the test.
func Standby(t testing.TB, _ PG) PG { return Postgres(t, false) }

// PgBouncer skips the test.
func PgBouncer(t testing.TB, _ PG) PG { return Postgres(t, false) }

// MariaDB skips the test.
func MariaDB(t testing.TB) string {
	t.Helper()
	skip(t)
	return ""
}

// Node stands for a server.
type Node struct{ Socket string }

// Kill does nothing.
func (Node) Kill() {}

// Rejoin skips the test.
func (Node) Rejoin(t testing.TB) { skip(t) }

// Galera skips the test.
func Galera(t testing.TB) []Node {
	t.Helper()
	skip(t)
	return nil
}

// Redis stands for a server.
type Redis struct{ Addr string }

// Crash does nothing.
func (Redis) Crash() {}

// Pause does nothing.
func (Redis) Pause() {}

// Resume does nothing.
func (Redis) Resume() {}

// Restart skips the test.
func (Redis) Restart(t testing.TB) { skip(t) }

// AwaitCopies skips the test.
func (Redis) AwaitCopies(t testing.TB) { skip(t) }

// Ask skips the test.
func (Redis) Ask(t testing.TB, _ string) string {
	skip(t)
	return ""
}

// NewRedis skips the test.
func NewRedis(t testing.TB, _ ...string) Redis {
	t.Helper()
	skip(t)
	return Redis{}
}

// NewRedisPrimary skips the test.
func NewRedisPrimary(t testing.TB) Redis { return NewRedis(t) }

// NewRedisReplica skips the test.
func NewRedisReplica(t testing.TB, _ Redis) Redis { return NewRedis(t) }

// RedisSentinel stands for servers.
type RedisSentinel struct {
	Addrs            []string
	Primary, Replica Redis
}

// NewRedisSentinel skips the test.
func NewRedisSentinel(t testing.TB) RedisSentinel {
	t.Helper()
	skip(t)
	return RedisSentinel{}
}

// RedisCluster stands for servers.
type RedisCluster struct {
	Addrs []string
	Nodes []Redis
}

// Lose skips the test.
func (RedisSentinel) Lose(t testing.TB) { skip(t) }

// NewRedisCluster skips the test.
func NewRedisCluster(t testing.TB) RedisCluster {
	t.Helper()
	skip(t)
	return RedisCluster{}
}

// Lose skips the test.
func (RedisCluster) Lose(t testing.TB, _ int, _ func()) { skip(t) }

// Promote skips the test.
func (RedisCluster) Promote(t testing.TB, _ int) { skip(t) }

// MongoDB skips the test.
func MongoDB(t testing.TB) *Gate {
	t.Helper()
	skip(t)
	return nil
}

// NATS stands for a server.
type NATS struct{ URL, Name string }

// NewNATS skips the test.
func NewNATS(t testing.TB, _ ...string) NATS {
	t.Helper()
	skip(t)
	return NATS{}
}

// NewNATSCluster skips the test.
func NewNATSCluster(t testing.TB) []NATS { return []NATS{NewNATS(t)} }

// Crash does nothing.
func (NATS) Crash() {}

// Stop does nothing.
func (NATS) Stop() {}

// Restart skips the test.
func (NATS) Restart(t testing.TB) { skip(t) }

// FreePorts skips the test.
func FreePorts(t testing.TB, _ int) []int {
	t.Helper()
	skip(t)
	return nil
}

// DynamoDB skips the test.
func DynamoDB(t testing.TB) (url string) { return MariaDB(t) }

func skip(t testing.TB) {
	t.Helper()
	const why = "servers are only started on Linux"
	if os.Getenv("LATCHKEY_REQUIRE_SERVERS") == "1" {
		t.Fatal(why)
	}
	t.Skip(why + ": NOTHING WAS TESTED")
}

// DexClient stands for a client of dex on systems where it is not started.
type DexClient struct {
	ID, Secret                           string
	RedirectURIs, PostLogoutRedirectURIs []string
	BackchannelLogoutURI                 string
}

// Dex skips the test.
func Dex(t testing.TB, _ ...DexClient) string {
	t.Helper()
	skip(t)
	return ""
}
