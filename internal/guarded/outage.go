package guarded

import (
	"crypto/tls"
	"errors"
	"io"
	"net"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/storage"
)

// IsOutage reports whether err is an ErrAdapter that says that the store was away or did
// not answer in time, or an ErrAudit: the audit log takes no events. As far as the
// library can tell nothing needs mending, and the same request may succeed in a moment
// . A network error without one of these types, and a certificate that is refused,
// are no outage.
func IsOutage(err error) bool {
	if errors.Is(err, fault.ErrAudit) { // it is asked for again, once the log takes events
		return true
	}
	if !errors.Is(err, fault.ErrAdapter) {
		return false
	}
	for _, known := range []error{storage.ErrUnavailable, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, known) {
			return true
		}
	}
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
		return true
	}
	if _, refused := errors.AsType[tls.AlertError](err); refused { // it is there, and certificates are wrong
		return false
	}
	_, broken := errors.AsType[*net.OpError](err)
	return broken
}
