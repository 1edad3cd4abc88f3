package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/jwt"
)

// claimsOf returns the members of a payload as claims, with numbers as json.Number.
func claimsOf(members []jsonscan.Member) jwt.Claims {
	claims := jwt.Claims{}
	for _, m := range members {
		claims[string(m.Key)] = decode(m.Raw)
	}
	return claims
}

// decode returns the value of well-formed JSON, with numbers as json.Number.
func decode(raw []byte) (value any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	_ = d.Decode(&value) // jsonscan.Members has found it well-formed
	return value
}

// show returns a payload as indented JSON in its own order. It replaces secrets as
// discreet does, and escapes characters that are not printable.
func show(members []jsonscan.Member) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(jsonscan.AppendText(nil, string(m.Key)))
		b.WriteByte(':')
		b.Write(encode(discreet(string(m.Key), decode(m.Raw))))
	}
	b.WriteByte('}')
	var indented bytes.Buffer
	if err := json.Indent(&indented, b.Bytes(), "", "  "); err != nil {
		return nil // cannot be: every part was written as JSON just now
	}
	indented.WriteByte('\n')
	return escapeInvisible(indented.Bytes())
}

// encode returns value as JSON on one line, without escapes for HTML. value has to come
// from decode.
func encode(value any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // it was decoded from JSON
	return bytes.TrimSpace(b.Bytes())
}

// discreet returns value, which is the value of the member called name. It replaces texts
// that may be tokens, secrets or passwords by their length. It knows these by the name of
// the member that they are in, at any depth. It changes lists and maps in place.
func discreet(name string, value any) any {
	switch v := value.(type) {
	case string:
		if isSensitive(name) && v != "" {
			return fmt.Sprintf("(%s, not shown)", counted(int64(utf8.RuneCountInString(v)), "character"))
		}
	case []any:
		for i := range v {
			v[i] = discreet(name, v[i])
		}
	case map[string]any:
		for key, inner := range v {
			under := key
			if isSensitive(name) {
				under = name
			}
			v[key] = discreet(under, inner)
		}
	}
	return value
}

// isSensitive reports whether a member with this name may hold a token, secret or
// password.
func isSensitive(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"token", "secret", "password", "verifier"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// escapeInvisible replaces every character that is neither printable nor a newline by its
// JSON escape, such as \u001b, so that text chosen by others cannot control the terminal
// or change the direction of writing. text is JSON, where such characters occur only
// inside strings.
func escapeInvisible(text []byte) []byte {
	var b bytes.Buffer
	for _, r := range string(text) {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}
