package audit

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"time"
)

// IDs makes the ids of events: UUIDs of version 7 (RFC 9562, section 5.7), which rise
// even if the clock is set back. The zero IDs is ready. It is safe for concurrent use.
type IDs struct {
	mu   sync.Mutex
	last uint64 // milliseconds and a counter of 12 bits
}

// Next returns a UUID of version 7 for the time now, greater than all ids that g has made.
func (g *IDs) Next(now time.Time) string {
	g.mu.Lock()
	g.last = max(g.last+1, uint64(max(0, now.UnixMilli()))<<12)
	at := g.last
	g.mu.Unlock()
	var b [16]byte
	_, _ = rand.Read(b[8:]) // ends the program rather than fail
	binary.BigEndian.PutUint64(b[:8], at>>12<<16|7<<12|at&0xFFF)
	b[8] = b[8]&0x3F | 0x80
	text := make([]byte, 0, 36)
	for i, part := range [][]byte{b[:4], b[4:6], b[6:8], b[8:10], b[10:]} {
		if i > 0 {
			text = append(text, '-')
		}
		text = hex.AppendEncode(text, part)
	}
	return string(text)
}
