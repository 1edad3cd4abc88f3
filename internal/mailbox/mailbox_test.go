package mailbox_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/internal/mailbox"
)

// FuzzMailbox: what is mailed to is one mailbox, and normalising it again
// changes nothing.
func FuzzMailbox(f *testing.F) {
	for _, s := range []string{"Ada@Example.com", "a@b,c", "a@b@c", "\"a\"@b", "a b@c", "a@b\r\nBcc: x", "ａ@ｂ.example", "a@\u200bb", "a@[::1]", "<a@b>", "a@b..c", "İ@x.example", "a@b;c@d", "a@xn--bcher-kva.example", strings.Repeat("a", 300) + "@b"} {
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
		again, err := mailbox.Normalize(email)
		if err != nil || again != email {
			t.Errorf("%q becomes %q and then %q (%v)", typed, email, again, err)
		}
	})
}
