package cookie_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/cookie"
)

func jar(lines ...string) cookie.Jar {
	return cookie.Parse(http.Header{"Cookie": lines})
}

func TestGet(t *testing.T) {
	for _, tt := range []struct {
		policy string
		lines  []string
		want   string
		ok     bool
	}{
		{"no header", nil, "", false},
		{"empty header", []string{""}, "", false},
		{"one", []string{"a=1"}, "1", true},
		{"among others", []string{"x=0; a=1; y=2"}, "1", true},
		{"without spaces", []string{"x=0;a=1;y=2"}, "1", true},
		{"with tabs and spaces", []string{"x=0;\t a = 1 \t; y=2"}, "1", true},
		{"on the second line", []string{"x=0", "a=1"}, "1", true},
		{"R-098 the first of two counts", []string{"a=1; a=2"}, "1", true},
		{"R-098 the first of two lines counts", []string{"a=1", "a=2"}, "1", true},
		{"R-098 a malformed first one is not replaced", []string{"a=\x00; a=2"}, "", false},
		{"empty value", []string{"a="}, "", true},
		{"value with equals signs", []string{"a=b=c=="}, "b=c==", true},
		{"quotes are not stripped: such a value is none of ours", []string{`a="1"`}, "", false},
		{"a lone quote is malformed", []string{`a="`}, "", false},
		{"a quote inside is malformed", []string{`a=1"2`}, "", false},
		{"percent signs stay", []string{"a=%7C%20"}, "%7C%20", true},
		{"names are case-sensitive", []string{"A=1"}, "", false},
		{"a name that begins alike", []string{"ab=1; a.0=2"}, "", false},
		{"no equals sign", []string{"a; a=1"}, "1", true},
		{"no name", []string{"=a; a=1"}, "1", true},
		{"nothing but semicolons", []string{";;; ;; a=1;;"}, "1", true},
		{"bytes outside ASCII are malformed", []string{"a=\xff"}, "", false},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			got, ok := jar(tt.lines...).Get("a")
			if got != tt.want || ok != tt.ok {
				t.Errorf("Get = %q, %t, want %q, %t", got, ok, tt.want, tt.ok)
			}
		})
	}
}

// Quoted values are left out: net/http unquotes them, and so would read as ours
// what Auth.js refuses.
func TestGetAgreesWithNetHTTP(t *testing.T) {
	for _, line := range []string{
		"a=1", "a=1; b=2", "a=x y", "a=", " a=1 ;b=2", "b=2; a=1,2", "a==", "a=%41",
	} {
		r := http.Request{Header: http.Header{"Cookie": {line}}}
		want, err := r.Cookie("a")
		got, ok := cookie.Parse(r.Header).Get("a")
		if err != nil || !ok || got != want.Value {
			t.Errorf("%q: Get = %q, %t, net/http has %v, %v", line, got, ok, want, err)
		}
	}
}

func TestReadingIsBounded(t *testing.T) {
	t.Run("R-389 of more than 1,000 cookies none exists", func(t *testing.T) {
		for _, before := range []string{"x=1;", "; ", "x;"} {
			if _, ok := jar(strings.Repeat(before, 999) + "a=1").Get("a"); !ok {
				t.Errorf("%q: the 1,000th cookie was not read", before)
			}
			if _, ok := jar("a=1;" + strings.Repeat(before, 1000)).Get("a"); ok {
				t.Errorf("%q: a cookie was read beside 1,000 others", before)
			}
		}
	})
	t.Run("R-389 nor on lines of their own", func(t *testing.T) {
		lines := slices.Repeat([]string{"x=1"}, 999)
		if _, ok := jar(append(lines, "a=1")...).Get("a"); !ok {
			t.Error("the 1,000th line was not read")
		}
		if _, ok := jar(append(lines, "x=1", "a=1")...).Get("a"); ok {
			t.Error("the 1,001st line was read")
		}
	})
	t.Run("R-389 of more than 64 KiB none exists", func(t *testing.T) {
		big := "x=" + strings.Repeat("y", 64<<10-5)
		if _, ok := jar(big, "a=1").Get("a"); !ok {
			t.Error("lines inside the bound were not read")
		}
		if _, ok := jar("a=1", big+"y").Get("a"); ok {
			t.Error("a line was read beside one beyond the bound")
		}
		if _, ok := jar("a=1;" + strings.Repeat("y", 64<<10)).Get("a"); ok {
			t.Error("a part of a line beyond the bound was read")
		}
	})
}

func TestChunked(t *testing.T) {
	for _, tt := range []struct {
		policy string
		header string
		want   string
		parts  []string
		ok     bool
	}{
		{"none", "x=1", "", nil, false},
		{"whole", "s=abc", "abc", nil, true},
		{"pieces", "s.0=a; s.1=b", "ab", []string{"s.0", "s.1"}, true},
		{"one piece", "s.0=a", "a", []string{"s.0"}, true},
		{"pieces in any order", "s.2=c; s.0=a; s.1=b", "abc", []string{"s.2", "s.0", "s.1"}, true},
		{
			"more than ten by number", "s.10=k; s.0=a; s.1=b; s.2=c; s.3=d; s.4=e; s.5=f; s.6=g; s.7=h; s.8=i; s.9=j", "abcdefghijk",
			[]string{"s.10", "s.0", "s.1", "s.2", "s.3", "s.4", "s.5", "s.6", "s.7", "s.8", "s.9"},
			true,
		},
		{"R-093 names that begin alike are left alone", "s-other=x; sx=y; s.=z; s.a=q; s.0x=w; s.0=a; S.1=b", "a", []string{"s.0"}, true},
		{"R-093 leading zeros and signs are not ours", "s.00=x; s.01=y; s.+1=z; s.-1=w; s. 1=v; s.0=a", "a", []string{"s.0"}, true},
		{"R-096 the whole one wins", "s.0=a; s=w; s.1=b", "w", []string{"s", "s.0", "s.1"}, true},
		{"R-096 a gap is nothing", "s.0=a; s.2=c", "", []string{"s.0", "s.2"}, false},
		{"R-096 a missing beginning is nothing", "s.1=b", "", []string{"s.1"}, false},
		{"R-096 an empty piece is a gap", "s.0=a; s.1=; s.2=c", "", []string{"s.0", "s.2"}, false},
		{"an empty last piece does not count", "s.0=a; s.1=", "a", []string{"s.0"}, true},
		{"an empty whole one does not count", "s=; s.0=a", "a", []string{"s.0"}, true},
		{"only an empty one", "s=", "", nil, false},
		{"R-388 a number beyond the limit is ignored", "s.0=a; s.32=b", "a", []string{"s.0"}, true},
		{"R-388 a greater one, too", "s.99=b; s.0=a; s.1=b; s.33=c", "ab", []string{"s.0", "s.1"}, true},
		{"R-388 an enormous one, too", "s.0=a; s.99999999999999999999999=b", "a", []string{"s.0"}, true},
		{"R-388 the same beside a whole one", "s=w; s.4294967296=b; s.32=b; s.99=c", "w", nil, true},
		{"R-388 alone they are nothing", "s.32=b; s.99=c", "", nil, false},
		{"R-098 the first of two pieces counts", "s.0=a; s.0=x; s.1=b", "ab", []string{"s.0", "s.1"}, true},
		{"R-098 the first of two whole ones counts", "s=a; s=b", "a", nil, true},
		{"R-098 also when it is malformed", "s=\xff; s=b", "", nil, false},
		{"R-098 also when that piece is malformed", "s.0=\xff; s.0=b", "", nil, false},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			got, parts, ok := jar(tt.header).Chunked("s")
			if got != tt.want || ok != tt.ok {
				t.Errorf("Chunked = %q, %t, want %q, %t", got, ok, tt.want, tt.ok)
			}
			if !slices.Equal(parts, tt.parts) || (parts == nil) != (tt.parts == nil) {
				t.Errorf("parts = %q, want %q", parts, tt.parts)
			}
		})
	}
}

func TestChunkedIsBounded(t *testing.T) {
	header := func(pieces, size int) string {
		var b strings.Builder
		for i := range pieces {
			fmt.Fprintf(&b, "s.%d=%s; ", i, strings.Repeat("x", size))
		}
		return b.String()
	}
	for _, tt := range []struct {
		policy string
		header string
		ok     bool
	}{
		{"R-095 32 pieces", header(32, 10), true},
		{"R-095 33 pieces", header(33, 10), false},
		{"R-388 32 pieces beside a stray number", header(32, 10) + "s.99=x", true},
		{"R-095 nearly 64 KiB in pieces", header(32, 2040), true},
		{"R-095 more than 64 KiB in pieces", header(32, 2049), false},
		{"R-095 64 KiB whole", "s=" + strings.Repeat("x", 64<<10-2), true},
		{"R-095 more than 64 KiB whole", "s=" + strings.Repeat("x", 64<<10-1), false},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			if _, _, ok := jar(tt.header).Chunked("s"); ok != tt.ok {
				t.Errorf("ok = %t, want %t", ok, tt.ok)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		policy string
		size   int
		limit  int
		names  []string
	}{
		{"empty", 0, 0, []string{"s"}},
		{"short", 1, 0, []string{"s"}},
		{"as long as a cookie may be", 3936, 0, []string{"s"}},
		{"one more", 3937, 0, []string{"s.0", "s.1"}},
		{"twice", 2 * 3936, 0, []string{"s.0", "s.1"}},
		{"one more than twice", 2*3936 + 1, 0, []string{"s.0", "s.1", "s.2"}},
		{"another limit", 7, 3, []string{"s.0", "s.1", "s.2"}},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			value := pattern(tt.size)
			chunks := cookie.Split("s", value, tt.limit)
			var header []string
			for i, c := range chunks {
				if i >= len(tt.names) || c.Name != tt.names[i] {
					t.Fatalf("chunk %d is called %q, want %q", i, c.Name, tt.names)
				}
				header = append(header, c.Name+"="+c.Value)
			}
			if len(chunks) != len(tt.names) {
				t.Fatalf("%d chunks, want %q", len(chunks), tt.names)
			}
			if got, _, ok := jar(strings.Join(header, "; ")).Chunked("s"); got != value || ok != (value != "") {
				t.Errorf("the chunks do not join to the value: %d characters, %t", len(got), ok)
			}
		})
	}
}

// pattern makes text in which no piece looks like another.
func pattern(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(strconv.Itoa(i))
		b.WriteByte('.')
	}
	return b.String()[:size]
}

func TestOneCookieCostsNothing(t *testing.T) {
	h := http.Header{"Cookie": {"theme=dark; authjs.csrf-token=abc%7Cdef; authjs.session-token=" + pattern(400) + "; lang=en"}}
	allocs := testing.AllocsPerRun(100, func() {
		j := cookie.Parse(h)
		if _, ok := j.Get("authjs.csrf-token"); !ok {
			t.Error("no CSRF token")
		}
		if _, parts, ok := j.Chunked("authjs.session-token"); !ok || parts != nil {
			t.Error("no session token")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want none", allocs)
	}
}

func FuzzJar(f *testing.F) {
	for _, header := range []string{
		"", "s=1", "s.0=a; s.1=b", "s=1; s=2; s.0=x", `s="q"; s.31=z`, ";;=;s", "s.4294967296=a", "s=\x00\xff",
	} {
		f.Add(header, "s")
	}
	f.Fuzz(func(t *testing.T, header, name string) {
		j := jar(header)
		whole, isThere := j.Get(name)
		value, parts, ok := j.Chunked(name)
		if isThere && whole != "" && len(whole) <= 64<<10 && (value != whole || !ok) && name != "" {
			t.Errorf("the whole cookie does not win: %q", value)
		}
		if !ok && value != "" {
			t.Error("a value that is not there")
		}
		for _, part := range parts {
			if suffix := strings.TrimPrefix(part, name); suffix != "" && !isNumber(suffix) {
				t.Errorf("%q does not belong to %q", part, name)
			}
		}
		if len(value) > 64<<10 || len(parts) > 33 {
			t.Error("beyond bounds")
		}
	})
}

func isNumber(suffix string) bool {
	digits := strings.TrimPrefix(suffix, ".")
	return len(digits) == len(suffix)-1 && strings.Trim(digits, "0123456789") == "" && (digits == "0" || digits[0] != '0')
}

func FuzzSplit(f *testing.F) {
	f.Add("abcdef", 2)
	f.Add("", 0)
	f.Add("x", -1)
	f.Fuzz(func(t *testing.T, value string, limit int) {
		var joined strings.Builder
		for _, c := range cookie.Split("s", value, limit) {
			joined.WriteString(c.Value)
		}
		if joined.String() != value {
			t.Error("the chunks do not join to the value")
		}
	})
}

func BenchmarkChunked(b *testing.B) {
	h := http.Header{"Cookie": {"theme=dark; authjs.csrf-token=abc%7Cdef; authjs.session-token=" + pattern(400) + "; lang=en"}}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, ok := cookie.Parse(h).Chunked("authjs.session-token"); !ok {
			b.Fatal("no token")
		}
	}
}
