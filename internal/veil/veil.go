// Package veil keeps secrets out of text: a value that holds one shows that it was hidden,
// and nothing else, if it is printed, logged or encoded by accident.
package veil

import (
	"fmt"
	"io"
	"log/slog"
)

// Shown is what stands for everything that is hidden.
const Shown = "[redacted]"

// Hidden hides the whole struct that it is embedded in: from every verb of fmt, from
// log/slog, and from encoders that ask for JSON or text (encoding/xml among them). Embed
// it under an unexported name, as an alias. What is nested in an unexported field of
// another package's struct cannot be reached: fmt calls no methods there.
type Hidden struct{}

// Format implements [fmt.Formatter].
func (Hidden) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, Shown) }

// LogValue implements [slog.LogValuer].
func (Hidden) LogValue() slog.Value { return slog.StringValue(Shown) }

// MarshalJSON implements [encoding/json.Marshaler].
func (Hidden) MarshalJSON() ([]byte, error) { return []byte(`"` + Shown + `"`), nil }

// MarshalText implements [encoding.TextMarshaler].
func (Hidden) MarshalText() ([]byte, error) { return []byte(Shown), nil }
