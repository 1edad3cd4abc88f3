//go:build linux

package realservers

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// freePort returns a port without a listener.
func freePort(t testing.TB) int {
	t.Helper()
	return FreePorts(t, 1)[0]
}

// FreePorts returns ports without a listener, which no other test gets until the
// test ends: its servers may start late, or be away for a while. They are below
// those that Linux gives to outgoing connections, one of which could otherwise be
// faster than a server.
func FreePorts(t testing.TB, n int) []int {
	t.Helper()
	const first, last, tries = 10000, 32000, 1000
	var ports []int
	for range tries {
		if port := first + rand.IntN(last-first); claim(t, port) && isFree(port) {
			ports = append(ports, port)
		}
		if len(ports) == n {
			return ports
		}
	}
	t.Fatal("there are no free ports")
	return nil
}

// claim reserves a port for this test until it ends, and returns false if a test of any
// process has reserved it. A reservation is an abstract socket: it ends with its process,
// and network namespaces have their own, as they have their own ports.
func claim(t testing.TB, port int) bool {
	l, err := net.Listen("unix", "@latchkey/test/port/"+strconv.Itoa(port))
	if err != nil {
		return false
	}
	t.Cleanup(func() { _ = l.Close() })
	return true
}

// isFree reports whether no program listens on the port.
func isFree(port int) bool {
	l, err := net.Listen("tcp", local(port))
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}
