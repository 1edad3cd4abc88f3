package jsonscan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
)

var small = jsonscan.Bounds{Values: 1000, Depth: 64, Length: 4 << 10}

func TestBounds(t *testing.T) {
	members := func(n int) string { return `{"a":0` + strings.Repeat(`,"b":1`, n-1) + `}` }
	for name, c := range map[string]struct {
		text  string
		holds bool
	}{
		"nothing":                      {"", true},
		"an object":                    {`{"a": [1, 2, {"b": "c"}]}`, true},
		"1,000 members":                {members(1000), true},
		"1,001 members":                {members(1001), false},
		"1,001 elements":               {`[0` + strings.Repeat(",0", 1000) + `]`, false},
		"1,001 values in all":          {`{"a":[` + strings.Repeat("[],", 600) + `0]}`, false},
		"64 levels":                    {strings.Repeat("[", 64) + strings.Repeat("]", 64), true},
		"65 levels":                    {strings.Repeat("[", 65) + strings.Repeat("]", 65), false},
		"65 levels of objects":         {strings.Repeat(`{"a":`, 65), false},
		"levels beside one another":    {"[" + strings.Repeat("[],", 400) + "0]", true},
		"4 KiB of text":                {`["` + strings.Repeat("x", 4<<10) + `"]`, true},
		"more than 4 KiB of text":      {`["` + strings.Repeat("x", 4<<10+1) + `"]`, false},
		"more than 4 KiB of a name":    {`{"` + strings.Repeat("x", 4<<10+1) + `":0}`, false},
		"more than 4 KiB of digits":    {`[` + strings.Repeat("1", 4<<10+1) + `]`, false},
		"escapes, as they are written": {`["` + strings.Repeat(`\"`, 2<<10) + `"]`, true},
		"too many escapes":             {`["` + strings.Repeat(`\"`, 2<<10+1) + `"]`, false},
		"brackets inside text":         {`["` + strings.Repeat("[", 200) + strings.Repeat(",", 2000) + `"]`, true},
		"spaces are nothing":           {"[" + strings.Repeat(" ", 1<<20) + "]", true},
		"text without an end":          {`["abc\`, true},
	} {
		t.Run("R-390 "+name, func(t *testing.T) {
			if got := small.Holds([]byte(c.text)); got != c.holds {
				t.Errorf("holds: %t", got)
			}
		})
	}
	t.Run("R-390 without a bound on length", func(t *testing.T) {
		b := small
		b.Length = 0
		if !b.Holds([]byte(`["` + strings.Repeat("x", 1<<20) + `",` + strings.Repeat("1", 1<<20) + `]`)) {
			t.Error("refused")
		}
	})
}

func FuzzBounds(f *testing.F) {
	for _, text := range []string{"", `{"a":[1,{"b":"\"}"}]}`, `["\\",`, strings.Repeat("[", 70), `"`, `"\`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		holds := small.Holds(text)
		var value any
		if json.Unmarshal(text, &value) != nil {
			return
		}
		if depth := depthOf(value); holds && depth > small.Depth {
			t.Errorf("%d levels", depth)
		}
	})
}

func depthOf(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			deepest = max(deepest, depthOf(member))
		}
	case []any:
		for _, element := range v {
			deepest = max(deepest, depthOf(element))
		}
	default:
		return 0
	}
	return deepest + 1
}

func BenchmarkBounds(b *testing.B) {
	for name, text := range map[string][]byte{
		"wide, 1 MiB": []byte("[0" + strings.Repeat(",0", 1<<19) + "]"),
		"usual":       []byte(`{"csrfToken":"` + strings.Repeat("a", 64) + `","callbackUrl":"/page","json":true}`),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				small.Holds(text)
			}
		})
	}
}
