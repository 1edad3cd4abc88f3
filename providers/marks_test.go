package providers_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/providers/catalogue"
)

var (
	pathParts  = regexp.MustCompile(`([a-zA-Z])([^a-zA-Z]*)`)
	pathNumber = regexp.MustCompile(`[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)`)
)

// arity is how many numbers a command of path data takes.
var arity = map[string]int{"m": 2, "l": 2, "t": 2, "h": 1, "v": 1, "c": 6, "s": 4, "q": 4, "a": 7, "z": 0}

// TestMarks is R-441 for the catalogue: marks are path data by their grammar, no
// longer than 2 KiB, and the page draws each of them.
func TestMarks(t *testing.T) {
	var list []latchkey.Provider
	marks := map[string]string{}
	for _, p := range many(t, len(catalogue.Providers())) {
		o := p.(*latchkey.OAuth)
		if o.Style.Mark == "" {
			continue
		}
		list, marks[o.ID] = append(list, o), o.Style.Mark
		if err := checkPath(o.Style.Mark); err != nil || len(o.Style.Mark) > 2<<10 {
			t.Errorf("R-441 %s: %d bytes, %v", o.ID, len(o.Style.Mark), err)
		}
	}
	c := configOf(list)
	c.Site = latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}
	auth, err := latchkey.New(c)
	if err != nil || len(marks) < 60 {
		t.Fatalf("%d marks, %v", len(marks), err)
	}
	page := string(latchkeytest.NewClient(t, auth).Get("/auth/signin").Body)
	for id, mark := range marks {
		if !strings.Contains(page, `d="`+mark+`"`) {
			t.Errorf("R-441 the mark of %s is not on the page", id)
		}
	}
}

// checkPath reads path data (SVG 2, section 9.3.9). The flags of an arc may
// stand without anything between them.
func checkPath(path string) error {
	parts := pathParts.FindAllStringSubmatch(path, -1)
	length := 0
	for i, part := range parts {
		length += len(part[0])
		want, known := arity[strings.ToLower(part[1])]
		if !known || i == 0 && strings.ToLower(part[1]) != "m" {
			return fmt.Errorf("command %q", part[1])
		}
		got, err := countNumbers(part[2], want == 7)
		if err != nil || want == 0 && got != 0 || want > 0 && (got == 0 || got%want != 0) {
			return fmt.Errorf("%d numbers after %q, %w", got, part[1], err)
		}
	}
	if length != len(path) {
		return fmt.Errorf("%d of %d bytes are commands", length, len(path))
	}
	return nil
}

func countNumbers(text string, arc bool) (count int, err error) {
	for {
		text = strings.TrimLeft(text, " ,")
		if text == "" {
			return count, nil
		}
		number := pathNumber.FindString(text)
		if arc && (count%7 == 3 || count%7 == 4) {
			number = text[:1] // a flag
		}
		if n, bad := strconv.ParseFloat(number, 64); bad != nil || !strings.HasPrefix(text, number) || n < -2000 || n > 2000 {
			return count, fmt.Errorf("no number in reach: %.10q", text)
		}
		text = text[len(number):]
		count++
	}
}
