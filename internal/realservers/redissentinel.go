//go:build linux

package realservers

import (
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// RedisSentinel is a primary and its replica, watched by three Sentinels that
// call them "lk".
type RedisSentinel struct {
	Addrs            []string // of the Sentinels
	Primary, Replica Redis    // as they were at the start

	watchers []Redis
}

// NewRedisSentinel starts the five servers.
func NewRedisSentinel(t testing.TB) RedisSentinel {
	t.Helper()
	s := RedisSentinel{Primary: NewRedisPrimary(t)}
	s.Replica = NewRedisReplica(t, s.Primary)
	for range 3 {
		w := newSentinel(t, s.Primary, s.Replica)
		s.watchers, s.Addrs = append(s.watchers, w), append(s.Addrs, w.Addr)
	}
	for _, w := range s.watchers {
		w.says(t, "SENTINEL MASTER lk", "\nnum-slaves\r\n$1\r\n1", "\nnum-other-sentinels\r\n$1\r\n2")
	}
	return s
}

// Lose crashes the primary, and waits until the replica has become the primary and every
// Sentinel names it.
func (s RedisSentinel) Lose(t testing.TB) {
	t.Helper()
	s.Primary.Crash()
	for _, w := range s.watchers {
		w.Ask(t, "SENTINEL SET lk down-after-milliseconds 500")
	}
	s.Replica.says(t, "ROLE", "master")
	_, port, _ := strings.Cut(s.Replica.Addr, ":")
	for _, w := range s.watchers {
		w.says(t, "SENTINEL GET-MASTER-ADDR-BY-NAME lk", "\r\n"+port+"\r\n")
	}
}

// newSentinel starts a Sentinel that watches primary. Its configuration names the replica,
// which it would otherwise not know in its first ten seconds.
func newSentinel(t testing.TB, primary, replica Redis) Redis {
	t.Helper()
	h, port := newHome(t, "redis"), freePort(t)
	spaced := func(addr string) string { return strings.ReplaceAll(addr, ":", " ") }
	h.write(t, "conf", "port "+strconv.Itoa(port)+"\nbind 127.0.0.1\ndir "+h.dir+
		"\nsentinel monitor lk "+spaced(primary.Addr)+" 2\nsentinel down-after-milliseconds lk "+strconv.Itoa(unnoticed)+"\nsentinel failover-timeout lk 2000"+
		"\nsentinel known-replica lk "+spaced(replica.Addr)+"\n")
	r := Redis{Addr: local(port), life: &life{}}
	r.life.start = func(t testing.TB) *server {
		s := h.serve(t, syscall.SIGTERM, program(t, "redis-server"), h.dir+"/conf", "--sentinel")
		s.await(t, func() error { _, err := r.ask("PING"); return err })
		return s
	}
	r.Restart(t)
	return r
}
