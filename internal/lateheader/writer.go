package lateheader

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// Writer is a response writer that adds the headers of a [Header] when the response
// begins. It belongs to the goroutine that answers.
type Writer struct {
	http.ResponseWriter

	late  *Header
	begun bool
}

// Wrap returns a writer for the handler, and its [Writer]. The first adds the headers of
// late to what w sends. It has Flush and Hijack if w has them. It has CloseNotify if w
// has it and Flush. It has ReadFrom and Push only if w has all methods that a writer of
// net/http has.
func Wrap(w http.ResponseWriter, late *Header) (http.ResponseWriter, *Writer) {
	own := &Writer{ResponseWriter: w, late: late}
	return own.like(w), own
}

// Begin adds the collected headers to the response, and closes the [Header] for more.
// Only the first call does something.
func (w *Writer) Begin() {
	if !w.begun {
		w.begun = true
		w.late.send(w.Header())
	}
}

// Unwrap returns the wrapped writer, for [http.ResponseController].
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader begins the response and writes status. An informational status other than
// 101 is written, but does not begin the response (RFC 9110, section 15.2).
func (w *Writer) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		w.Begin()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write begins the response and writes b.
func (w *Writer) Write(b []byte) (int, error) {
	w.Begin()
	return w.ResponseWriter.Write(b)
}

// WriteString begins the response and writes s. [io.WriteString] calls it.
func (w *Writer) WriteString(s string) (int, error) {
	w.Begin()
	return io.WriteString(w.ResponseWriter, s)
}

// FlushError begins the response and flushes it. [http.ResponseController] calls it.
func (w *Writer) FlushError() error {
	w.Begin()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// These types have the methods that only some writers have. Each calls the method of the
// writer that of wraps, which must have it.
type (
	flusher  struct{ of *Writer }
	hijacker struct{ of *Writer }
	pusher   struct{ of *Writer }
	reader   struct{ of *Writer }
	notifier struct{ of *Writer }
)

// Flush begins the response and flushes it.
func (f flusher) Flush() { _ = f.of.FlushError() }

// Hijack begins the response and takes over the connection.
func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	h.of.Begin() // a proxy writes the header itself, from what the writer has
	return h.of.ResponseWriter.(http.Hijacker).Hijack()
}

// Push pushes target. It does not begin the response.
func (p pusher) Push(target string, o *http.PushOptions) error {
	return p.of.ResponseWriter.(http.Pusher).Push(target, o)
}

// ReadFrom begins the response and writes what from has.
func (r reader) ReadFrom(from io.Reader) (int64, error) {
	r.of.Begin()
	return r.of.ResponseWriter.(io.ReaderFrom).ReadFrom(from)
}

func (n notifier) CloseNotify() <-chan bool {
	//lint:ignore SA1019 frameworks ask for it
	return n.of.ResponseWriter.(http.CloseNotifier).CloseNotify()
}

// like returns w with the optional methods of inner. For a writer of net/http it keeps
// all of them. For another writer it leaves out ReadFrom and Push, which only save time.
// It leaves out CloseNotify if the writer has no Flush.
func (w *Writer) like(inner http.ResponseWriter) http.ResponseWriter {
	_, flushes := inner.(http.Flusher)
	_, hijacks := inner.(http.Hijacker)
	//lint:ignore SA1019 frameworks ask for it
	_, notifies := inner.(http.CloseNotifier)
	_, pushes := inner.(http.Pusher)
	_, reads := inner.(io.ReaderFrom)
	switch {
	case flushes && hijacks && notifies && reads:
		return http1{w, flusher{w}, hijacker{w}, notifier{w}, reader{w}}
	case flushes && notifies && pushes:
		return http2{w, flusher{w}, notifier{w}, pusher{w}}
	case flushes && hijacks && notifies:
		return framework{w, flusher{w}, hijacker{w}, notifier{w}}
	case flushes && hijacks:
		return flushHijacker{w, flusher{w}, hijacker{w}}
	case flushes && notifies:
		return flushNotifier{w, flusher{w}, notifier{w}}
	case hijacks:
		return justHijacker{w, hijacker{w}}
	case flushes:
		return justFlusher{w, flusher{w}}
	}
	return w
}

// The sets of methods that writers have.
type (
	http1 struct { // of net/http
		*Writer
		flusher
		hijacker
		notifier
		reader
	}
	http2 struct { // of net/http
		*Writer
		flusher
		notifier
		pusher
	}
	framework struct { // such as Gin's
		*Writer
		flusher
		hijacker
		notifier
	}
	flushHijacker struct {
		*Writer
		flusher
		hijacker
	}
	flushNotifier struct {
		*Writer
		flusher
		notifier
	}
	justHijacker struct {
		*Writer
		hijacker
	}
	justFlusher struct {
		*Writer
		flusher
	}
)
