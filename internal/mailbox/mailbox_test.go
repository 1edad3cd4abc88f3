package mailbox_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/internal/mailbox"
)

// FuzzMailbox: what is mailed to is one mailbox with a domain in ASCII, and
// normalising it again changes nothing.
func FuzzMailbox(f *testing.F) {
	for _, s := range []string{
		"Ada@Example.com", "a@b,c", "a@b@c", "\"a\"@b", "a b@c", "a@b\r\nBcc: x", "ａ@ｂ.example", "a@\u200bb", "a@[::1]", "<a@b>", "a@b..c", "İ@x.example", "a@b;c@d",
		"a@xn--bcher-kva.example", "a@BÜCHER.example", "ü@bu\u0308cher.example", "a@xn--bü", "a@\u0301b.example", strings.Repeat("a", 300) + "@b", "ϓ\u0301@b.example",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		email, err := mailbox.Normalize(typed)
		if err != nil || mailbox.Check(email) != nil {
			return
		}
		if strings.Count(email, "@") != 1 || len(email) > 254 || strings.ContainsAny(email, " \t\r\n<>;:,[]()\\\"\x00") || !utf8.ValidString(email) {
			t.Errorf("%q becomes %q", typed, email)
		}
		if _, domain, _ := strings.Cut(email, "@"); strings.ContainsFunc(domain, func(r rune) bool { return r >= 0x80 }) {
			t.Errorf("%q becomes %q", typed, email)
		}
		again, err := mailbox.Normalize(email)
		if err != nil || again != email {
			t.Errorf("%q becomes %q and then %q (%v)", typed, email, again, err)
		}
	})
}

func TestCanonical(t *testing.T) {
	for said, want := range map[string]string{
		" Ada@Example.COM ":          "ada@example.com",
		"user":                       "user", // no e-mail address at all
		"Zoe\u0308@example.com":      "zo\u00eb@example.com",
		"ZO\u00cb@example.com":       "zo\u00eb@example.com",
		"a@Bu\u0308cher.example":     "a@xn--bcher-kva.example",
		"a@b\u00dcCHER.example":      "a@xn--bcher-kva.example",
		"a@XN--BCHER-KVA.example":    "a@xn--bcher-kva.example",
		"a@\u4f8b\u3048.example":     "a@xn--r8jz45g.example",
		"a@fu\u00dfball.example":     "a@xn--fuball-cta.example",
		"a@xn--bcher-kva.m\u00fc.ex": "a@xn--bcher-kva.xn--m-eha.ex",
		// 66 bytes of UTF-8, and 44 in DNS.
		"a@международныйцентрделовоготуризма.рф": "a@xn--80aafecbaedbfumi7agogccqibb0bgi0cjku6fti.xn--p1ai",
	} {
		t.Run(fmt.Sprintf("R-347 R-371 %q", said), func(t *testing.T) {
			if got, err := mailbox.Canonical(said); got != want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		})
	}
	for name, said := range map[string]string{
		"a dotted I":                    "victim@g\u0130thub.example",
		"a dotted I in two pieces":      "victim@gI\u0307thub.example",
		"a dotless i":                   "victim@g\u0131thub.example",
		"a Kelvin sign":                 "mi\u212ae@example.com",
		"a long s":                      "\u017fam@example.com",
		"a ligature":                    "\ufb01nn@example.com",
		"a ligature of a long s":        "\ufb05ar@example.com",
		"full-width letters":            "\uff41da@example.com",
		"a full-width dot":              "ada@example\uff0ecom",
		"a full-width sign":             "ada\uff20example.com",
		"a letter in a circle":          "\u24d0da@example.com",
		"a mathematical letter":         "\U0001d41ada@example.com",
		"a superscript digit":           "ada\u00b2@example.com",
		"a Greek question mark":         "ada\u037e@example.com",
		"a mark in front of a label":    "a@\u0308bcher.example",
		"a symbol in the domain":        "a@\u2603.example",
		"a hidden letter in the domain": "a@b\u00fc\u3164.example",

		"R-516 a space of another width in front": "\u00a0ada@example.com",
		"R-516 an ideographic space behind":       "ada@example.com\u3000",
		"R-516 an em space behind":                "ada@example.com\u2003",
		"R-516 a line separator":                  "ada@example.com\u2028",
		"R-516 a next line":                       "\u0085ada@example.com",
		"R-516 a NUL":                             "ada\x00@example.com",
		"R-516 an escape sequence":                "ada@example.com\x1b[31m",
		"R-516 a line break inside":               "ada@example.com\r\nBcc: eve@example.com",
		"R-516 a delete":                          "a\x7fda@example.com",
		"what is encoded already":                 "a@xn--b\u00fc.example",
		"R-850 a label of 69 bytes in DNS":        "a@" + strings.Repeat("щ", 63) + ".example",
	} {
		t.Run("R-347 "+name, func(t *testing.T) {
			if got, err := mailbox.Canonical(said); err == nil {
				t.Errorf("%q becomes %q", said, got)
			}
		})
	}
}

// The samples of RFC 3492, section 7.1, that are host names.
func TestDomainsInASCII(t *testing.T) {
	for domain, want := range map[string]string{
		"ليهمابتكلموشعربي؟":               "", // has a question mark
		"他们为什么不说中文":                       "xn--ihqwcrb4cv8a8dqg056pqjye",
		"他們爲什麽不說中文":                       "xn--ihqwctvzc91f659drss3x8bo0yb",
		"pročprostěnemluvíčesky":          "xn--proprostnemluvesky-uyb24dma41a",
		"למההםפשוטלאמדבריםעברית":          "xn--4dbcagdahymbxekheh6e0a7fei0b",
		"なぜみんな日本語を話してくれないのか":              "xn--n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa",
		"почемужеонинеговорятпорусски":    "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l",
		"tạisaohọkhôngthểchỉnóitiếngviệt": "xn--tisaohkhngthchnitingvit-kjcr8268qyxafd2f1b9g",
		"3年b組金八先生":                        "xn--3b-ww4c5e180e575a65lsy2b",
		"安室奈美恵-with-super-monkeys":        "xn---with-super-monkeys-pc58ag80a8qai00g7n9n",
		"ひとつ屋根の下2":                        "xn--2-u9tlzr9756bt3uc0v",
		"majiでkoiする5秒前":                   "xn--majikoi5-783gue6qz075azm5e",
		"パフィーdeルンバ":                       "xn--de-jg4avhby1noc0d",
		"そのスピードで":                         "xn--d9juau41awczczp",
	} {
		t.Run("R-371 "+domain, func(t *testing.T) {
			got, err := mailbox.Canonical("a@" + domain)
			if (err != nil) != (want == "") || err == nil && got != "a@"+want {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	for _, email := range []string{"-ada@example.com", "-oQ/tmp@example.com", "--@example.com", "-@example.com"} {
		t.Run("R-395 "+email, func(t *testing.T) {
			if mailbox.Check(email) == nil {
				t.Error("accepted")
			}
		})
	}
	for _, email := range []string{"a-da@example.com", "ada-@example.com", "`id`@example.com", "a|b@example.com"} {
		t.Run("R-395 plain: "+email, func(t *testing.T) {
			if err := mailbox.Check(email); err != nil {
				t.Error(err)
			}
		})
	}
}
