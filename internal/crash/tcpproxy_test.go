package crash

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
)

// tcpProxy leads to a server and can fall silent: then connections stay open,
// new ones too, and nothing comes through, as when a cable is cut.
type tcpProxy struct {
	listener net.Listener
	server   string

	mu     sync.Mutex
	silent bool
	word   []byte // silences the proxy when a client sends it, in small letters; empty: none does
	conns  []net.Conn
}

func newTCPProxy(t testing.TB, server string) *tcpProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &tcpProxy{listener: l, server: server}
	go p.serve()
	t.Cleanup(func() { _ = l.Close(); p.reopen() })
	return p
}

func (p *tcpProxy) port() int { return p.listener.Addr().(*net.TCPAddr).Port }

// silenceAt silences the proxy as soon as a client sends word; at once if it is
// empty.
func (p *tcpProxy) silenceAt(word string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent, p.word = word == "", []byte(word)
}

func (p *tcpProxy) isSilent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.silent
}

// reopen cuts what connections there are; new ones get through.
func (p *tcpProxy) reopen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent, p.word = false, nil
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

func (p *tcpProxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		go p.copy(client, server, true)
		go p.copy(server, client, false)
	}
}

// copy carries bytes until either end closes, and drops them while the proxy is
// silent.
func (p *tcpProxy) copy(from io.ReadCloser, to io.WriteCloser, listen bool) {
	defer func() { _, _ = from.Close(), to.Close() }()
	chunk := make([]byte, 32<<10)
	for {
		n, err := from.Read(chunk)
		if err != nil {
			return
		}
		if p.drops(chunk[:n], listen) {
			continue
		}
		if _, err := to.Write(chunk[:n]); err != nil {
			return
		}
	}
}

func (p *tcpProxy) drops(chunk []byte, listen bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if listen && len(p.word) > 0 && bytes.Contains(bytes.ToLower(chunk), p.word) {
		p.silent, p.word = true, nil
	}
	return p.silent
}
