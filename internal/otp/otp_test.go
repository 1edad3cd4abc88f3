package otp_test

import (
	"encoding/base32"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/internal/otp"
)

var rfcSecret = []byte("12345678901234567890")

func TestVectors(t *testing.T) {
	t.Run("F-021 RFC 4226, appendix D", func(t *testing.T) {
		for step, want := range []string{"755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"} {
			if got := otp.Code(rfcSecret, int64(step)); got != want {
				t.Errorf("step %d: %s, want %s", step, got, want)
			}
		}
	})
	t.Run("F-021 RFC 6238, appendix B, SHA-1, the last six of eight digits", func(t *testing.T) {
		for _, c := range []struct {
			at   int64
			want string
		}{{59, "94287082"}, {1111111109, "07081804"}, {1111111111, "14050471"}, {1234567890, "89005924"}, {2000000000, "69279037"}, {20000000000, "65353130"}} {
			if got := otp.Code(rfcSecret, otp.Step(time.Unix(c.at, 0))); got != c.want[2:] {
				t.Errorf("%d: %s, want %s", c.at, got, c.want[2:])
			}
		}
	})
}

func TestWindow(t *testing.T) {
	now := time.Unix(1_800_000_000, 0) // the first second of a step
	for _, c := range []struct {
		skew, first, last int
	}{{-1, 0, 0}, {0, 0, 0}, {1, -1, 1}, {2, -2, 2}, {9, -2, 2}} {
		for steps := -4; steps <= 4; steps++ {
			for _, at := range []time.Time{now, now.Add(otp.Period - time.Millisecond)} {
				code := otp.Code(rfcSecret, otp.Step(at)+int64(steps))
				step, ok := otp.Check(rfcSecret, code, at, c.skew)
				if want := c.first <= steps && steps <= c.last; ok != want || ok && step != otp.Step(at)+int64(steps) {
					t.Errorf("F-022 skew %d: a code %d steps away at %v: %t, step %d", c.skew, steps, at.UTC(), ok, step)
				}
			}
		}
	}
	t.Run("F-022 without a secret nothing fits", func(t *testing.T) {
		if _, ok := otp.Check(nil, otp.Code(nil, otp.Step(now)), now, 1); ok {
			t.Error("accepted")
		}
	})
}

func TestTyped(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"123456", "123456"},
		{"123 456", "123456"},
		{" 12-34–56\t", "123456"},
		{"１２３４５６", "123456"},
		{"١٢٣٤٥٦", "123456"},
		{"१२३४५६", "123456"},
		{"𝟏𝟐𝟑𝟜𝟝𝟞", "123456"},
		{"123\u200b456", "123456"},
		{"123\u00a0456", "123456"},
		{"12345", "12345"},
		{"abcdef", "abcdef"},
		{strings.Repeat("1", 64), strings.Repeat("1", 64)},
		{strings.Repeat("1", 65), ""},
		{strings.Repeat("1", 10<<10), ""},
	} {
		if got := otp.Typed(c.typed); got != c.want {
			t.Errorf("F-027 %.20q: %q, want %q", c.typed, got, c.want)
		}
	}
}

func TestURI(t *testing.T) {
	secret := []byte("12345678901234567890")
	for _, c := range []struct{ issuer, account, wantIssuer, wantAccount string }{
		{"Example", "ann@example.org", "Example", "ann@example.org"},
		{"Ex & Co %41", "a b&c=d%20@x", "Ex & Co %41", "a b&c=d%20@x"},
		{"a:b", "c:d:e", "a b", "c d e"},
		{"Grüße 🙂", "ümlaut+tag@bücher.example", "Grüße 🙂", "ümlaut+tag@bücher.example"},
		{"", "ann", "", "ann"},
		{strings.Repeat("ä", 200), strings.Repeat("x", 300), strings.Repeat("ä", 100), strings.Repeat("x", 200)},
	} {
		text := otp.URI(c.issuer, c.account, secret)
		u, err := url.Parse(text)
		if err != nil {
			t.Fatalf("F-031 %s: %v", text, err)
		}
		label := strings.TrimPrefix(u.Path, "/")
		issuer, account, found := strings.Cut(label, ":")
		if !found {
			issuer, account = "", label
		}
		if u.Scheme != "otpauth" || u.Host != "totp" || issuer != c.wantIssuer || account != c.wantAccount || u.Query().Get("issuer") != c.wantIssuer {
			t.Errorf("F-031 %s: issuer %q, account %q", text, issuer, account)
		}
		raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(u.Query().Get("secret"))
		if err != nil || string(raw) != string(secret) || strings.ContainsAny(text, "+=") != strings.Contains(text, "secret=") || strings.Contains(text, "+") {
			t.Errorf("F-031 %s: secret %q, %v", text, raw, err)
		}
		for name, want := range map[string]string{"algorithm": "SHA1", "digits": "6", "period": "30"} {
			if got := u.Query().Get(name); got != want {
				t.Errorf("F-031 %s is %q", name, got)
			}
		}
	}
}

func TestSVG(t *testing.T) {
	uri := otp.URI("Example Incorporated", "somebody.with.a.long.name@mail.example.org", otp.NewSecret())
	image, err := otp.SVG(uri, `Code for <"Ann" & Ben>`)
	if err != nil {
		t.Fatal(err)
	}
	if len(image) > 12<<10 || !strings.Contains(image, `aria-label="Code for &#60;&#34;Ann&#34; &#38; Ben&#62;"`) || strings.Contains(image, "style=") || strings.Contains(image, "href") {
		t.Errorf("F-032 %d bytes for %d: %.300s", len(image), len(uri), image)
	}
	if _, err := otp.SVG(strings.Repeat("x", 5000), ""); err == nil {
		t.Error("F-032 no error for a text that no QR code can hold")
	}
}

func TestSecrets(t *testing.T) {
	a, b := otp.NewSecret(), otp.NewSecret()
	if len(a) != 20 || string(a) == string(b) {
		t.Errorf("%x and %x", a, b)
	}
	if got := otp.Grouped("ABCDEFGHIJ"); got != "ABCD EFGH IJ" {
		t.Errorf("%q", got)
	}
}

func FuzzTyped(f *testing.F) {
	for _, text := range []string{"123 456", "١٢٣٤٥٦", "\xff", "𝟏𝟐𝟑", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := otp.Typed(text)
		if again := otp.Typed(once); len(once) <= otp.LongestTyped && again != once {
			t.Errorf("%q becomes %q, then %q", text, once, again)
		}
		if _, ok := otp.Check(rfcSecret, once, time.Unix(59, 0), 2); ok && len(once) != otp.Digits {
			t.Errorf("%q is accepted", text)
		}
	})
}

func FuzzURI(f *testing.F) {
	f.Add("Example", "ann@example.org")
	f.Add("a:b%", "\xff+ &")
	f.Fuzz(func(t *testing.T, issuer, account string) {
		text := otp.URI(issuer, account, rfcSecret)
		u, err := url.Parse(text)
		if err != nil || u.Query().Get("secret") == "" || strings.Count(u.Path, ":") > 1 || !utf8.ValidString(u.Path) {
			t.Errorf("%q: %v", text, err)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	now := time.Unix(1_800_000_000, 0)
	for b.Loop() {
		otp.Check(rfcSecret, "000000", now, 1)
	}
}

func BenchmarkSVG(b *testing.B) {
	uri := fmt.Sprintf("%-150s", otp.URI("Example", "ann@example.org", rfcSecret))
	for b.Loop() {
		if _, err := otp.SVG(uri, "code"); err != nil {
			b.Fatal(err)
		}
	}
}
