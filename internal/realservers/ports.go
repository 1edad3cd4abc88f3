//go:build linux

package realservers

import (
	"math/rand/v2"
	"net"
	"testing"
)

// freePort is a port that nobody listens on just now.
func freePort(t testing.TB) int {
	t.Helper()
	return freePorts(t, 1)[0]
}

// freePorts are ports that nobody listens on just now, all of them different. They
// are below those that Linux gives to outgoing connections, one of which could
// otherwise be faster than the server, or have the port while it is started again.
func freePorts(t testing.TB, n int) []int {
	t.Helper()
	const first, last, tries = 10000, 32000, 1000
	var ports []int
	for range tries {
		l, err := net.Listen("tcp", local(first+rand.IntN(last-first)))
		if err != nil {
			continue
		}
		defer func() { _ = l.Close() }()
		if ports = append(ports, l.Addr().(*net.TCPAddr).Port); len(ports) == n {
			return ports
		}
	}
	t.Fatal("there are no free ports")
	return nil
}
