package mail_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/mail"
	"github.com/latchkeyhq/latchkey/mailtext"
)

func TestDelivery(t *testing.T) {
	for _, row := range []struct {
		security  mail.Security
		encrypted bool
	}{
		{"", true}, {mail.STARTTLS, true}, {mail.ImplicitTLS, true}, {mail.Unencrypted, false}, {mail.UnencryptedAnywhere, false},
	} {
		t.Run("over "+string(row.security), func(t *testing.T) {
			c := listen(t, row.security == mail.ImplicitTLS, func(_ *catcher, s *smtp.Server) { s.AllowInsecureAuth = !row.encrypted })
			s := c.server()
			s.Security = row.security
			if err := deliver(t, s, signInLink()); err != nil {
				t.Fatal(err)
			}
			mails := c.caught()
			if len(mails) != 1 || mails[0].from != "no-reply@app.example" || !slices.Equal(mails[0].to, []string{"ada@b.example"}) {
				t.Fatalf("caught %+v", mails)
			}
			if mails[0].encrypted != row.encrypted {
				t.Errorf("encrypted: %v", mails[0].encrypted)
			}
			if !slices.Equal(c.users, []string{user}) {
				t.Errorf("authenticated: %q", c.users)
			}
		})
	}
}

func TestContent(t *testing.T) {
	c := listen(t, false, nil)
	s := c.server()
	s.From = `"Bücher & Co" <no-reply@app.example>`
	s.Time = func() time.Time { return time.Unix(1e9, 0) }
	if err := deliver(t, s, signInLink()); err != nil {
		t.Fatal(err)
	}
	header, body, order := parts(t, c.caught()[0].data)
	from, err := (&mime.WordDecoder{}).DecodeHeader(header.Get("From"))
	if err != nil || from != "Bücher & Co <no-reply@app.example>" && from != `"Bücher & Co" <no-reply@app.example>` {
		t.Errorf("From %q, %v", from, err)
	}
	for name, want := range map[string]string{"To": "<ada@b.example>", "Subject": "Sign in to app.example", "Auto-Submitted": "auto-generated", "Bcc": "", "User-Agent": "", "X-Mailer": ""} {
		if got := header.Get(name); got != want {
			t.Errorf("%s %q, want %q", name, got, want)
		}
	}
	if at, err := header.Date(); err != nil || at.Unix() != 1e9 {
		t.Errorf("Date %v, %v", at, err)
	}
	if id := header.Get("Message-Id"); !strings.HasPrefix(id, "<") || !strings.HasSuffix(id, "@app.example>") || len(id) < 36 {
		t.Errorf("Message-ID %q", id)
	}
	if !slices.Equal(order, []string{"text/plain", "text/html"}) {
		t.Errorf("parts %q: readers show the last one they can", order)
	}
	if !strings.HasPrefix(body["text/plain"], "Sign in to app.example\n"+link+"\n") {
		t.Errorf("text %q", body["text/plain"])
	}
	if !strings.Contains(body["text/html"], strings.ReplaceAll(link, "&", "&amp;")) {
		t.Errorf("HTML without the link:\n%s", body["text/html"])
	}
}

func TestMessageIDsDiffer(t *testing.T) {
	c := listen(t, false, nil)
	for range 2 {
		if err := deliver(t, c.server(), signInLink()); err != nil {
			t.Fatal(err)
		}
	}
	mails := c.caught()
	first, _, _ := parts(t, mails[0].data)
	second, _, _ := parts(t, mails[1].data)
	if first.Get("Message-Id") == second.Get("Message-Id") {
		t.Error("two mails have one Message-ID: the second would be dropped as a duplicate")
	}
}

func TestTheProvidersSenderComesFirst(t *testing.T) {
	c := listen(t, false, nil)
	l := signInLink()
	l.From = "Sign-in <sign-in@app.example>"
	if err := deliver(t, c.server(), l); err != nil {
		t.Fatal(err)
	}
	if got := c.caught()[0].from; got != "sign-in@app.example" {
		t.Errorf("sent by %q", got)
	}
}

func TestTemplate(t *testing.T) {
	c := listen(t, false, nil)
	s := c.server()
	s.Template = func(l latchkey.Message) (mailtext.Content, error) {
		return mailtext.Content{Subject: "Grüße 🗝", Text: "Öffne " + l.URL}, nil
	}
	if err := deliver(t, s, signInLink()); err != nil {
		t.Fatal(err)
	}
	header, body, order := parts(t, c.caught()[0].data)
	if subject, _ := (&mime.WordDecoder{}).DecodeHeader(header.Get("Subject")); subject != "Grüße 🗝" {
		t.Errorf("subject %q", subject)
	}
	if len(order) != 1 || strings.TrimSpace(body["text/plain"]) != "Öffne "+link {
		t.Errorf("parts %q", body)
	}
}

func TestHostileContentStaysHere(t *testing.T) {
	template := func(m mailtext.Content, err error) func(*mail.Server, *latchkey.Message) {
		return func(s *mail.Server, _ *latchkey.Message) {
			s.Template = func(latchkey.Message) (mailtext.Content, error) { return m, err }
		}
	}
	for name, change := range map[string]func(*mail.Server, *latchkey.Message){
		"R-144 two recipients":       func(_ *mail.Server, l *latchkey.Message) { l.To = "a@b.example,c@d.example" },
		"R-144 command in recipient": func(_ *mail.Server, l *latchkey.Message) { l.To = "a@b.example>\r\nRCPT TO:<c@d.example" },
		"R-144 header in recipient":  func(_ *mail.Server, l *latchkey.Message) { l.To = "a@b.example\r\nBcc: c@d.example" },
		"R-144 named recipient":      func(_ *mail.Server, l *latchkey.Message) { l.To = "A <a@b.example>" },
		"header in sender":           func(_ *mail.Server, l *latchkey.Message) { l.From = "A <a@b.example>\r\nBcc: c@d.example" },
		"link to nowhere":            func(_ *mail.Server, l *latchkey.Message) { l.URL = "javascript:alert(1)" },
		"header in subject":          template(mailtext.Content{Subject: "x\r\nBcc: c@d.example", Text: "x"}, nil),
		"no text":                    template(mailtext.Content{Subject: "x", HTML: "x"}, nil),
		"a template that cannot":     template(mailtext.Content{Subject: "x", Text: "x"}, errors.New("no words")),
	} {
		t.Run(name, func(t *testing.T) {
			c := listen(t, false, nil)
			s, l := c.server(), signInLink()
			change(&s, &l)
			keepsQuiet(t, deliver(t, s, l), "mail: ")
			if got := c.caught(); len(got) != 0 {
				t.Errorf("sent %q", got[0].data)
			}
		})
	}
}

func TestManyAtOnce(t *testing.T) {
	c := listen(t, false, nil)
	send, err := mail.SMTP(c.server())
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			l := signInLink()
			l.To = fmt.Sprintf("ada%d@b.example", i)
			if err := send(context.Background(), l); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := len(c.caught()); got != 8 {
		t.Errorf("caught %d mails", got)
	}
}

func TestInputsStayAsTheyAre(t *testing.T) {
	c := listen(t, false, nil)
	s := c.server()
	config := &tls.Config{RootCAs: c.roots}
	s.TLSConfig = config
	if err := deliver(t, s, signInLink()); err != nil {
		t.Fatal(err)
	}
	if config.ServerName != "" {
		t.Error("the caller's TLSConfig was changed")
	}
}
