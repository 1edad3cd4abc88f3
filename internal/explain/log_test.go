package explain

import (
	"bufio"
	"bytes"
	"context"
	"errors"
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

// what a log has beside the code puts the true cause first.
func TestLogNamesTheCause(t *testing.T) {
	code := secretCodec().Make(fault.StateNoCookies, now())
	text, _ := Find(fault.StateNoCookies)
	for cookies, want := range map[string]bool{"": true, "__Host-authjs.csrf-token=131": false} {
		l, err := Search(strings.NewReader(`{"reference":"`+code+`","detail":"state.no_cookies","facts":{"host":"app.example","site":"https://app.example","origin":"https://app.example","cookies":"`+cookies+`"}}`), code)
		if err != nil || strings.Contains(CausesOf(&text, l)[0], "doctor --site https://app.example") != want {
			t.Errorf("R-788 with the cookies %q: %+v, %v", cookies, l, err)
		}
	}
	line := func(code, client string) string {
		return `{"client":"` + client + `","reference":"` + code + `","detail":"limit.client"}` + "\n"
	}
	text, _ = Find(fault.LimitClient)
	others := line("0000-0000-0000", "127.0.0.1") + line("0000-0000-0001", "127.0.0.1")
	for log, want := range map[string]bool{
		others + line(code, "127.0.0.1"):                                       true,
		line(code, "127.0.0.1") + others:                                       true,
		others + line(code, "127.0.0.1") + line("0000-0000-0002", "192.0.2.7"): false,
		line(code, "127.0.0.1"):                                                false,
	} {
		l, err := Search(strings.NewReader(log), code)
		if err != nil || strings.Contains(CausesOf(&text, l)[0], "All 3 lines") != want {
			t.Errorf("R-788 %s: %+v, %v", log, l, err)
		}
	}
}

// variables have the name of the provider, unless that is no name.
func TestCureNamesTheProvider(t *testing.T) {
	text, _ := Find(fault.TokenInvalidClient)
	for provider, want := range map[string]string{"acme": "AUTH_ACME_SECRET", "my-idp": "AUTH_MY_IDP_SECRET", "": "AUTH_<ID>_SECRET", "$(x)": "AUTH_<ID>_SECRET"} {
		if got := CureOf(&text, &Line{Provider: provider}); !strings.Contains(got, want) {
			t.Errorf("R-790 %q: %s", provider, got)
		}
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
	if kept, err := readLine(bufio.NewReader(&endless{3 * longestLine})); len(kept) != longestLine || !errors.Is(err, io.EOF) {
		t.Errorf("O-088 %d bytes of a line are kept, %v", len(kept), err)
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
