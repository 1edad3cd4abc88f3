package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

// What happens to connections of every kind of database.
const (
	refusedUser  = "it refuses the user or the password"
	nobodyThere  = "nobody answers there: is it running, and are host and port right?"
	tooSlow      = "it does not answer in time"
	brokenAnswer = "the connection failed: check host, port and TLS settings"
)

// explain returns an error that names the database and says why it cannot be reached. It
// repeats nothing of err, since drivers quote connection settings.
func (d database) explain(err error) error {
	text := reason(err)
	if text == "" {
		text = brokenAnswer
	}
	return fmt.Errorf("%s: %s", d.where, text)
}

// failed returns an error that names the database and says why the adapter could not do
// its work. It does not wrap err, and repeats the text of err unless reason has a better
// one: errors of adapters quote no settings.
func (d database) failed(err error) error {
	text := reason(err)
	if text == "" {
		text = err.Error()
	}
	return fmt.Errorf("%s: %s", d.where, text)
}

// reason returns a text for an error of a kind that every database has, such as a refused
// password or a timeout, or "" for any other.
func reason(err error) string {
	if text := sqlstore.Refusal(err); text != "" {
		return text
	}
	network, isNetwork := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.Is(err, context.DeadlineExceeded), isNetwork && network.Timeout():
		return tooSlow
	case isNetwork:
		return nobodyThere
	}
	return ""
}
