package realservers

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"sync"
)

// Gate is a proxy between MongoDB's clients and the server of the tests. It mends two
// things in which that server differs from MongoDB. It lets only one command at a time
// through, because the server does not change a document atomically. And it gives the code
// of a duplicate key to an update that a unique index refuses.
type Gate struct {
	URL string // for clients

	host string     // of the server, with its port
	turn sync.Mutex // held from a command to its answer

	lock sync.Mutex
	meet func(command string) Fate // nil: every command passes; guarded by lock
}

// Fate is what becomes of a command at a [Gate].
type Fate int

// What can become of a command.
const (
	Passed      Fate = iota
	Unanswered       // it is done, and the connection is cut before the answer
	Cut              // the connection is cut, and it is not done
	Refused          // it is not done, and the answer is that of a server that is no longer the primary
	Failed           // it is not done, and the answer is an error that says nothing
	Misreported      // it is done, and the answer is such an error
)

// Meet has f decide the fate of each command from now on, by the name of the command, such
// as "insert". f is not called for the commands that a driver sends by itself: hello,
// isMaster, ping and endSessions. With nil every command passes. Meet may be called while
// clients are connected.
func (g *Gate) Meet(f func(command string) Fate) {
	g.lock.Lock()
	defer g.lock.Unlock()
	g.meet = f
}

// fate returns the fate of the command in a message.
func (g *Gate) fate(message []byte) Fate {
	g.lock.Lock()
	defer g.lock.Unlock()
	name := commandOf(message)
	switch name {
	case "", "hello", "isMaster", "ismaster", "ping", "endSessions":
		return Passed
	}
	if g.meet == nil {
		return Passed
	}
	return g.meet(name)
}

// serve passes the commands of one client on to a connection to the server that no other
// client has.
func (g *Gate) serve(client net.Conn) {
	defer client.Close()
	upstream, err := net.Dial("tcp", g.host)
	if err != nil {
		return
	}
	defer upstream.Close()
	for {
		message, err := readMessage(client)
		if err != nil {
			return
		}
		answer, err := g.pass(upstream, message)
		if err != nil {
			return
		}
		if _, err := client.Write(answer); err != nil {
			return
		}
	}
}

var errCut = errors.New("cut")

// pass sends a command to the server, unless its fate forbids that, and returns the answer
// for the client. An error means that the connection of the client is to be cut.
func (g *Gate) pass(upstream net.Conn, message []byte) ([]byte, error) {
	fate := g.fate(message)
	switch fate {
	case Cut:
		return nil, errCut
	case Refused:
		return failure(message, 10107, "not primary"), nil
	case Failed:
		return failure(message, 1, "failed"), nil
	}
	g.turn.Lock()
	defer g.turn.Unlock()
	if _, err := upstream.Write(message); err != nil {
		return nil, err
	}
	answer, err := readMessage(upstream)
	switch {
	case fate == Unanswered:
		err = errors.Join(err, errCut)
	case fate == Misreported:
		answer = failure(message, 1, "failed")
	case bytes.Contains(answer, []byte("UNIQUE constraint failed")):
		answer = failure(message, 11000, "duplicate key")
	}
	return answer, err
}

// The wire protocol: a message is its length, its number, the number of what it
// answers and a code, 4 bytes each, little-endian. With the code 2013 follow 4
// bytes of flags, a zero byte and the command, a BSON document.
const (
	headerSize = 16
	opMsg      = 2013
	mostBytes  = 48 << 20
)

// readMessage reads one message with its header.
func readMessage(r io.Reader) ([]byte, error) {
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(header)
	if n < headerSize || n > mostBytes {
		return nil, errors.New("no message of MongoDB's")
	}
	message := append(header, make([]byte, n-headerSize)...)
	_, err := io.ReadFull(r, message[headerSize:])
	return message, err
}

// commandOf returns the name of the command in a message, which is the name of the first
// element of its document. It returns "" for a message of another form.
func commandOf(message []byte) string {
	const name = headerSize + 4 + 1 + 4 + 1 // after flags, kind, length and type
	if len(message) < name || binary.LittleEndian.Uint32(message[12:]) != opMsg || message[headerSize+4] != 0 {
		return ""
	}
	text, _, _ := bytes.Cut(message[name:], []byte{0})
	return string(text)
}

// failure returns the answer {ok: 0, errmsg: text, code: code} to a message.
func failure(message []byte, code uint32, text string) []byte {
	var doc []byte
	doc = append(append(doc, 0x01), "ok\x00"...)
	doc = binary.LittleEndian.AppendUint64(doc, math.Float64bits(0))
	doc = append(append(doc, 0x02), "errmsg\x00"...)
	doc = binary.LittleEndian.AppendUint32(doc, uint32(len(text)+1))
	doc = append(append(doc, text...), 0)
	doc = append(append(doc, 0x10), "code\x00"...)
	doc = binary.LittleEndian.AppendUint32(doc, code)
	doc = append(doc, 0)

	var answer []byte
	answer = binary.LittleEndian.AppendUint32(answer, uint32(headerSize+4+1+4+len(doc)))
	answer = binary.LittleEndian.AppendUint32(answer, 0)
	answer = append(answer, message[4:8]...)
	answer = binary.LittleEndian.AppendUint32(answer, opMsg)
	answer = append(answer, 0, 0, 0, 0, 0)
	answer = binary.LittleEndian.AppendUint32(answer, uint32(4+len(doc)))
	return append(answer, doc...)
}
