package ginauth

import (
	"bufio"
	"net"
	"net/http"

	"github.com/gin-gonic/gin"
)

// writer is the writer of a gin.Context that adds the renewal of the session to the
// header when the response begins. Only the goroutine that writes changes the header;
// others may read the session meanwhile.
type writer struct {
	gin.ResponseWriter

	begin func(http.Header) // adds the renewal of the session, if one is due
}

// commit adds the renewal of the session to the header, unless the response has begun.
func (w *writer) commit() {
	if !w.Written() {
		w.begin(w.Header())
	}
}

// Unwrap returns the writer for [http.ResponseController].
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *writer) Write(b []byte) (int, error) {
	w.commit()
	return w.ResponseWriter.Write(b)
}

func (w *writer) WriteString(s string) (int, error) {
	w.commit()
	return w.ResponseWriter.WriteString(s)
}

func (w *writer) WriteHeaderNow() {
	w.commit()
	w.ResponseWriter.WriteHeaderNow()
}

func (w *writer) Flush() {
	w.commit()
	w.ResponseWriter.Flush()
}

func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.commit()
	return w.ResponseWriter.Hijack()
}
