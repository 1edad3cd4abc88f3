package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// span is a duration flag that also understands days: 30d, 36h, 90m.
type span time.Duration

// Set implements pflag.Value. It reads whole days such as 30d, or what
// [time.ParseDuration] reads. It returns an error for a negative time, and leaves s as it
// was after an error.
func (s *span) Set(text string) error {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return errWantSpan
		}
		*s = span(n) * span(24*time.Hour)
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errWantSpan
	}
	*s = span(d)
	return nil
}

var errWantSpan = errors.New("want a time such as 30d, 36h or 90m")

// String implements pflag.Value.
func (s *span) String() string {
	const day = span(24 * time.Hour)
	if *s > 0 && *s%day == 0 {
		return fmt.Sprintf("%dd", *s/day)
	}
	return time.Duration(*s).String()
}

// Type implements pflag.Value.
func (s *span) Type() string { return "time" }

// inWords returns a duration without its sign, in its largest unit and the next smaller
// one, such as "2 days 3 hours". Days are the largest unit, seconds the smallest.
func inWords(d time.Duration) string {
	d = d.Abs()
	units := []struct {
		name string
		size time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}}
	for i, unit := range units {
		if d < unit.size {
			continue
		}
		words := counted(int64(d/unit.size), unit.name)
		if i+1 < len(units) {
			if rest := d % unit.size / units[i+1].size; rest > 0 {
				words += " " + counted(int64(rest), units[i+1].name)
			}
		}
		return words
	}
	return "less than a second"
}

// counted returns a count of what, which it puts into the plural with an s: "1 row" or "2
// rows".
func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.FormatInt(n, 10) + " " + what + "s"
}
