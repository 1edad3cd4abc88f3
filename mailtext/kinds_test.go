package mailtext_test

import (
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/words"
	"github.com/latchkeyhq/latchkey/mailtext"
)

// kinds are all kinds of messages, and what a mail of each has besides its subject.
var kinds = map[latchkey.MessageKind]struct{ link, code, other bool }{
	latchkey.MessageSignIn:          {link: true, code: true},
	latchkey.MessageVerify:          {link: true, code: true},
	latchkey.MessageAccountExists:   {link: true, other: true},
	latchkey.MessagePasswordReset:   {link: true},
	latchkey.MessageNewPassword:     {link: true},
	latchkey.MessageNewEmail:        {link: true, code: true},
	latchkey.MessageFactorCode:      {code: true},
	latchkey.MessageRecoveryReady:   {link: true},
	latchkey.MessageInvitation:      {link: true},
	latchkey.MessagePasswordChanged: {link: true},
	latchkey.MessageEmailChange:     {link: true},
	latchkey.MessageEmailChanged:    {link: true},
	latchkey.MessageFactorAdded:     {link: true},
	latchkey.MessageFactorRemoved:   {link: true},
	latchkey.MessageFactorsReset:    {link: true},
	latchkey.MessageRecoveryMade:    {link: true},
	latchkey.MessageRecoveryUsed:    {link: true},
	latchkey.MessageWrongCodes:      {link: true},
	latchkey.MessageRecoveryStarted: {link: true},
	latchkey.MessageRecoverySoon:    {link: true},
}

// Every kind has words in every language, in the text as in the HTML, and no two
// kinds have the same.
func TestEveryKindHasWords(t *testing.T) {
	const other, code = "https://app.example/auth/password?do=forgot", "12345678"
	for _, language := range words.Tags() {
		seen := map[string]latchkey.MessageKind{}
		for kind, has := range kinds {
			t.Run(language+" "+string(kind), func(t *testing.T) {
				m := latchkey.Message{Kind: kind, URL: link, Language: language, Left: 7, Expires: time.Unix(0, 0)}
				if has.code {
					m.Code = code
				}
				if has.other {
					m.OtherURL = other
				}
				c, err := mailtext.Compose(m)
				if err != nil || c.Check() != nil {
					t.Fatal(err, c.Check())
				}
				if was, same := seen[c.Text]; same {
					t.Errorf("it says what %s says", was)
				}
				seen[c.Text] = kind
				html := read(t, c.HTML)
				for what, row := range map[string]struct {
					text string
					want bool
				}{
					"link": {link, has.link}, "code": {"1234 5678", has.code}, "other link": {other, has.other}, "host": {"app.example", true},
				} {
					if strings.Contains(c.Text, row.text) != row.want {
						t.Errorf("the text has the %s: %t\n%s", what, !row.want, c.Text)
					}
					if inHTML := html.words + strings.Join(html.links, " "); strings.Contains(inHTML, row.text) != row.want {
						t.Errorf("the HTML has the %s: %t\n%s", what, !row.want, inHTML)
					}
				}
				for _, left := range []string{"{host}", "{time}", "{count}"} {
					if strings.Contains(c.Text+c.Subject+html.words, left) {
						t.Errorf("a place was not filled:\n%s", c.Text)
					}
				}
			})
		}
	}
}

// A mail shows its link before its code, and says that nobody asks for the code.
func TestLinkStandsBeforeCode(t *testing.T) {
	c, err := mailtext.Compose(latchkey.Message{Kind: latchkey.MessageSignIn, URL: link, Code: "12345678", Expires: time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	want := "Sign in to app.example\n" + link + "\n\nOr enter this code where you asked for it:\n1234 5678\nNobody will ever ask you for this code.\n\n" +
		"The link works once, until 1970-01-01 00:00 UTC.\nIf you did not request this email you can safely ignore it.\n"
	if c.Text != want {
		t.Errorf("%q\nwant\n%q", c.Text, want)
	}
	if at, code := strings.Index(c.HTML, "<a "), strings.Index(c.HTML, "1234 5678"); at < 0 || code < at {
		t.Error("the code stands before the link")
	}
}

func TestNoticesNameWhatTheyKnow(t *testing.T) {
	for kind, want := range map[latchkey.MessageKind]string{
		latchkey.MessageRecoveryUsed:    "Recovery codes left: 2",
		latchkey.MessageRecoveryStarted: "from 2026-11-21 05:07 UTC on",
	} {
		c, err := mailtext.Compose(latchkey.Message{Kind: kind, URL: link, Left: 2, Expires: time.Date(2026, 11, 21, 5, 7, 0, 0, time.UTC)})
		if err != nil || !strings.Contains(c.Text, want) || !strings.Contains(c.HTML, want) {
			t.Errorf("%s: %v\n%s", kind, err, c.Text)
		}
	}
}

func TestMessagesThatCannotBeWorded(t *testing.T) {
	for name, m := range map[string]latchkey.Message{
		"a code that is missing":   {Kind: latchkey.MessageFactorCode, URL: link},
		"no link, not even a host": {Kind: latchkey.MessageFactorCode, Code: "12345678"},
		"a hostile other link":     {Kind: latchkey.MessageAccountExists, URL: link, OtherURL: "javascript:alert(1)"},
	} {
		if _, err := mailtext.Compose(m); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

func TestCodesAreMadeReadable(t *testing.T) {
	for code, want := range map[string]string{"123456": "123 456", "1234567": "123 4567", "12345678": "1234 5678", "<b>1234</b>": "&lt;b&gt;1234"} {
		c, err := mailtext.Compose(latchkey.Message{Kind: latchkey.MessageFactorCode, URL: link, Code: code})
		if err != nil || !strings.Contains(c.HTML, want) {
			t.Errorf("%s: %v", code, err)
		}
	}
}
