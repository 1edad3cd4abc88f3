package explain

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"unicode"

	"github.com/latchkeyhq/latchkey/fault"
)

// O-063: the facts of a line put the true cause first.
func TestFactsNameTheCause(t *testing.T) {
	code := secretCodec().Make(fault.StateNoCookies, now())
	for name, handler := range map[string]func(io.Writer) slog.Handler{
		"JSON": func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
		"text": func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
	} {
		var log bytes.Buffer
		write := slog.New(handler(&log))
		write.ErrorContext(context.Background(), "latchkey: other", "reference", "0000-0000-0000", "detail", "other")
		write.ErrorContext(context.Background(), "latchkey: InvalidCheck", "type", "InvalidCheck", "error", "the state \"x\" is\nmissing", "reference", code,
			"detail", "state.no_cookies", slog.Group("facts", "host", "www.app.example", "site", "https://app.example", "headers", 900, "tls", false))
		l, err := Search(&log, strings.ToLower(code))
		if err != nil || l == nil || l.Detail != fault.StateNoCookies || l.Facts["host"] != "www.app.example" {
			t.Fatalf("O-063 %s: %+v, %v", name, l, err)
		}
		text, _ := Find(l.Detail)
		if causes := CausesOf(&text, l); len(causes) != len(text.Causes)+1 || !strings.Contains(causes[0], "www.app.example") {
			t.Errorf("O-063 %s: %q", name, causes)
		}
		if strings.ContainsFunc(l.Error, unicode.IsControl) {
			t.Errorf("O-088 %s: %q", name, l.Error)
		}
	}
	text, _ := Find(fault.SessionUnknownKey)
	if causes := CausesOf(&text, &Line{Facts: map[string]string{"headers": "9000"}}); !strings.Contains(causes[0], "9000") {
		t.Errorf("O-063 a session of 9 KB: %q", causes)
	}
	if causes := CausesOf(&text, nil); len(causes) != len(text.Causes) {
		t.Errorf("O-063 without a log: %q", causes)
	}
}

// endless is a line without an end, up to a number of bytes.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	for i := range n {
		p[i] = 'x'
	}
	e.left -= n
	return n, nil
}

// O-088: lines of any length are read in bounded memory.
func TestLongLines(t *testing.T) {
	code := secretCodec().Make(fault.StoreAway, now())
	line := "reference=" + code + " detail=store.away error=\"\x1b[31mred\u202e\"\n"
	log := io.MultiReader(&endless{10 << 20}, strings.NewReader("\n"+line))
	l, err := Search(log, code)
	if err != nil || l == nil || l.Detail != fault.StoreAway || strings.ContainsAny(l.Error, "\x1b\u202e") {
		t.Errorf("O-088 %+v, %v", l, err)
	}
}

func FuzzSearch(f *testing.F) {
	code := secretCodec().Make(fault.StoreAway, now())
	f.Add(`{"reference":"` + code + `","detail":"store.away","facts":{"host":"a"}}`)
	f.Add("reference=" + code + ` error="a \" b" facts.host=x`)
	f.Add("{" + code)
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Search(strings.NewReader(text), code)
		if err != nil || l == nil {
			return
		}
		for _, shown := range append([]string{string(l.Detail), l.Error, l.Time, l.Type}, l.Facts["host"]) {
			if strings.ContainsFunc(shown, unicode.IsControl) {
				t.Errorf("%q", shown)
			}
		}
	})
}

func FuzzOpen(f *testing.F) {
	c := secretCodec()
	f.Add(c.Make(fault.StoreAway, now()))
	f.Add("oil-0000")
	f.Fuzz(func(t *testing.T, code string) {
		r, err := c.Open(code, now())
		if err != nil {
			return
		}
		if again, err := c.Open(Spelled(code), now()); err != nil || again != r {
			t.Errorf("%q: %+v, %+v, %v", code, r, again, err)
		}
	})
}
