package mail

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// Format implements [fmt.Formatter]: a Server holds a password, and is never
// printed, whatever the verb.
func (Server) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, redacted) }

// LogValue implements [slog.LogValuer]. It returns "[redacted]": a Server has a password.
func (Server) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON implements [encoding/json.Marshaler]. It returns the string "[redacted]",
// from which no Server can be read again: a Server has a password.
func (Server) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText implements [encoding.TextMarshaler], which shows nothing either.
func (Server) MarshalText() ([]byte, error) { return []byte(redacted), nil }
