package crash

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
)

// valve is a way to a server that can be shut: then connections stay open, new
// ones too, and nothing comes through, as when a cable is cut.
type valve struct {
	listener net.Listener
	server   string

	lock  sync.Mutex
	shut  bool
	word  []byte // shuts the valve when a client says it, in small letters; empty: none does
	conns []net.Conn
}

func newValve(t testing.TB, server string) *valve {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v := &valve{listener: l, server: server}
	go v.serve()
	t.Cleanup(func() { _ = l.Close(); v.reopen() })
	return v
}

func (v *valve) port() int { return v.listener.Addr().(*net.TCPAddr).Port }

// shutAt shuts the valve as soon as a client sends word; at once if it is empty.
func (v *valve) shutAt(word string) {
	v.lock.Lock()
	defer v.lock.Unlock()
	v.shut, v.word = word == "", []byte(word)
}

func (v *valve) isShut() bool {
	v.lock.Lock()
	defer v.lock.Unlock()
	return v.shut
}

// reopen cuts what connections there are; new ones get through.
func (v *valve) reopen() {
	v.lock.Lock()
	defer v.lock.Unlock()
	v.shut, v.word = false, nil
	for _, c := range v.conns {
		_ = c.Close()
	}
	v.conns = nil
}

func (v *valve) serve() {
	for {
		client, err := v.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", v.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		v.lock.Lock()
		v.conns = append(v.conns, client, server)
		v.lock.Unlock()
		go v.pass(client, server, true)
		go v.pass(server, client, false)
	}
}

// pass carries bytes until either end closes, and drops them while the valve is shut.
func (v *valve) pass(from io.ReadCloser, to io.WriteCloser, listen bool) {
	defer func() { _, _ = from.Close(), to.Close() }()
	chunk := make([]byte, 32<<10)
	for {
		n, err := from.Read(chunk)
		if err != nil {
			return
		}
		if v.stops(chunk[:n], listen) {
			continue
		}
		if _, err := to.Write(chunk[:n]); err != nil {
			return
		}
	}
}

func (v *valve) stops(chunk []byte, listen bool) bool {
	v.lock.Lock()
	defer v.lock.Unlock()
	if listen && len(v.word) > 0 && bytes.Contains(bytes.ToLower(chunk), v.word) {
		v.shut, v.word = true, nil
	}
	return v.shut
}
