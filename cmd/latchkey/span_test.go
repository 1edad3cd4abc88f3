package main

import (
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	for text, want := range map[string]string{"30d": "30d", "24h": "1d", "90m": "1h30m0s", "0s": "0s"} {
		var s span
		if err := s.Set(text); err != nil || s.String() != want {
			t.Errorf("%s is %s, error %v", text, s.String(), err)
		}
	}
	for _, text := range []string{"", "soon", "-1d", "-1h", "1.5d", "99999999d", "d"} {
		if err := new(span).Set(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestInWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "less than a second", time.Second: "1 second", -90 * time.Second: "1 minute 30 seconds", time.Hour: "1 hour",
		49 * time.Hour: "2 days 1 hour", 24*time.Hour + time.Minute: "1 day",
	} {
		if got := inWords(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
