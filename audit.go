package latchkey

import "log/slog"

// Audit says where security events are kept. The zero value keeps none. See
// docs/audit.md.
type Audit struct {
	// Logger gets one line for each event of package event. Use one of its own, which
	// writes to a place that the program cannot change. Lines are written after the
	// answer. [Auth.Shutdown] waits for them; a process that ends without it loses those
	// that are not written yet.
	Logger *slog.Logger
	// Address says how much of a client's IP address a line has.
	Address AddressDetail
}

// AddressDetail is how much of an IP address is kept.
type AddressDetail string

// The details of addresses.
const (
	AddressFull   AddressDetail = ""       // all of it
	AddressPrefix AddressDetail = "prefix" // the network: /24, or /48 of IPv6
	AddressNone   AddressDetail = "none"   // no address
)
