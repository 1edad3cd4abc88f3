package mail_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/mail"
)

func TestRefusals(t *testing.T) {
	no := func(code int) error {
		return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no ada@b.example with " + token}
	}
	for _, row := range []struct {
		command, want string
		code          int
	}{
		{"mail", "MAIL FROM command: refused (status 550): check From", 550},
		{"rcpt", "RCPT TO command: refused (status 550)", 550},
		{"rcpt", "RCPT TO command: refused for now (status 450)", 450},
		{"data", "refused (status 554)", 554},
	} {
		t.Run(row.want, func(t *testing.T) {
			c := listen(t, false, func(c *catcher, _ *smtp.Server) { c.refuse[row.command] = no(row.code) })
			keepsQuiet(t, deliver(t, c.server(), signInLink()), row.want)
			if len(c.caught()) != 0 {
				t.Error("the mail was accepted all the same")
			}
		})
	}
}

// only a server that knows of no such mailbox says that it is gone.
func TestMailboxIsGone(t *testing.T) {
	for _, row := range []struct {
		command string
		code    int
		status  smtp.EnhancedCode
		gone    bool
	}{
		{"rcpt", 550, smtp.EnhancedCode{5, 1, 1}, true},
		{"rcpt", 550, smtp.EnhancedCode{5, 1, 10}, true},
		{"rcpt", 550, smtp.EnhancedCode{5, 2, 1}, true},
		{"rcpt", 550, smtp.EnhancedCode{5, 7, 1}, false}, // a policy
		{"rcpt", 552, smtp.EnhancedCode{5, 2, 2}, false}, // it is full
		{"rcpt", 450, smtp.EnhancedCode{4, 1, 1}, false},
		{"rcpt", 550, smtp.NoEnhancedCode, false},
		{"mail", 550, smtp.EnhancedCode{5, 1, 1}, false},
		{"data", 550, smtp.EnhancedCode{5, 1, 1}, false},
	} {
		t.Run(fmt.Sprint("R-750 ", row.command, row.code, row.status), func(t *testing.T) {
			c := listen(t, false, func(c *catcher, _ *smtp.Server) {
				c.refuse[row.command] = &smtp.SMTPError{Code: row.code, EnhancedCode: row.status, Message: "no"}
			})
			if err := deliver(t, c.server(), signInLink()); err == nil || errors.Is(err, latchkey.ErrMailboxGone) != row.gone {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestWrongPassword(t *testing.T) {
	c := listen(t, false, nil)
	s := c.server()
	s.Username = "stranger" // the server repeats the password
	keepsQuiet(t, deliver(t, s, signInLink()), "does not accept the user name and password (status 535)")
}

func TestAuthenticationNotOffered(t *testing.T) {
	c := listen(t, false, nil) // only over TLS
	s := c.server()
	s.Security = mail.Unencrypted
	keepsQuiet(t, deliver(t, s, signInLink()), "takes no user name and password")
	if len(c.users) != 0 || len(c.caught()) != 0 {
		t.Error("something was sent")
	}
}

// A server, or somebody in between, that hides STARTTLS would otherwise read
// the password and every link.
func TestNoSTARTTLSMeansNoMail(t *testing.T) {
	var heard string
	s := scripted(t, func(c net.Conn) {
		io.WriteString(c, "220 localhost\r\n")
		lines := bufio.NewScanner(c)
		for lines.Scan() {
			heard += lines.Text() + "\n"
			io.WriteString(c, "250-localhost\r\n250 AUTH PLAIN LOGIN\r\n")
		}
	})
	s.Security, s.Username, s.Password = mail.STARTTLS, user, password
	keepsQuiet(t, deliver(t, s, signInLink()), "offers no STARTTLS")
	if strings.Contains(heard, "AUTH") || strings.Contains(heard, "MAIL") {
		t.Errorf("the server heard %q", heard)
	}
}

// An answer that was in the pipe before encryption began must not count after
// it: somebody in between could have put it there.
func TestAnswersInjectedBeforeTLSAreNotBelieved(t *testing.T) {
	c := listen(t, false, nil)
	var heard []string
	s := scripted(t, func(conn net.Conn) {
		io.WriteString(conn, "220 localhost\r\n")
		plain := bufio.NewReader(conn)
		for _, answer := range []string{"250-localhost\r\n250 STARTTLS\r\n", "220 go\r\n250-localhost\r\n250 AUTH PLAIN\r\n"} {
			plain.ReadString('\n')
			io.WriteString(conn, answer)
		}
		encrypted := tls.Server(conn, c.config)
		for lines := bufio.NewScanner(encrypted); lines.Scan(); {
			heard = append(heard, lines.Text())
			io.WriteString(encrypted, "250 localhost\r\n") // offers no AUTH
		}
	})
	s.Security, s.TLSConfig, s.Username, s.Password = mail.STARTTLS, c.server().TLSConfig, user, password
	keepsQuiet(t, deliver(t, s, signInLink()), "greeting")
	if slices.ContainsFunc(heard, func(line string) bool { return strings.HasPrefix(line, "AUTH") || strings.HasPrefix(line, "MAIL") }) {
		t.Errorf("the server heard %q", heard)
	}
}

func TestCertificates(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*mail.Server)
		want   string
	}{
		"R-786 unknown issuer": {func(s *mail.Server) { s.TLSConfig = nil }, "certificate is of an authority that this machine does not trust"},
		"R-786 another name": {
			func(s *mail.Server) { s.TLSConfig.ServerName = "mail.elsewhere.example" },
			`and not for "mail.elsewhere.example": set Server.Host, which is the host in EMAIL_SERVER`,
		},
		"R-786 an old certificate": {func(s *mail.Server) {
			s.TLSConfig.Time = func() time.Time { return time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) }
		}, "certificate has expired"},
	} {
		change, want := c.change, c.want
		for _, security := range []mail.Security{mail.STARTTLS, mail.ImplicitTLS} {
			t.Run(name+" over "+string(security), func(t *testing.T) {
				c := listen(t, security == mail.ImplicitTLS, nil)
				s := c.server()
				s.Security = security
				change(&s)
				err := deliver(t, s, signInLink())
				keepsQuiet(t, err, want)
				if strings.Contains(want, "and not for") {
					keepsQuiet(t, err, `its certificate is for "example.com", `)
				}
				if len(c.users) != 0 {
					t.Error("the password was sent")
				}
			})
		}
	}
}

func TestTLSOnThePortOfSTARTTLS(t *testing.T) {
	c := listen(t, false, nil)
	s := c.server()
	s.Security = mail.ImplicitTLS
	keepsQuiet(t, deliver(t, s, signInLink()), "use STARTTLS")
}

// a domain beyond ASCII asks nothing of the server.
func TestDomainsBeyondASCII(t *testing.T) {
	l := signInLink()
	l.To = "ada@bücher.example"
	c := listen(t, false, nil)
	s := c.server()
	s.From = "App <no-reply@bücher.example>"
	if err := deliver(t, s, l); err != nil {
		t.Fatal(err)
	}
	if got := c.caught(); len(got) != 1 || got[0].to[0] != "ada@xn--bcher-kva.example" || got[0].from != "no-reply@xn--bcher-kva.example" {
		t.Errorf("caught %+v", got)
	}
}

func TestMailboxesBeyondASCII(t *testing.T) {
	l := signInLink()
	l.To = "ädä@b.example"
	c := listen(t, false, nil)
	keepsQuiet(t, deliver(t, c.server(), l), "SMTPUTF8")
	c = listen(t, false, func(_ *catcher, s *smtp.Server) { s.EnableSMTPUTF8 = true })
	if err := deliver(t, c.server(), l); err != nil {
		t.Fatal(err)
	}
	if got := c.caught(); len(got) != 1 || got[0].to[0] != l.To {
		t.Errorf("caught %+v", got)
	}
}

// A server that answers nothing must not hold the user's request for long.
func TestSilentServer(t *testing.T) {
	silent := func(t *testing.T) (mail.Server, chan struct{}) {
		met := make(chan struct{})
		return scripted(t, func(c net.Conn) { close(met); io.Copy(io.Discard, c) }), met
	}
	for _, security := range []mail.Security{mail.Unencrypted, mail.ImplicitTLS} {
		t.Run("the user leaves, "+string(security), func(t *testing.T) {
			s, met := silent(t)
			s.Security = security
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-met; cancel() }()
			send, err := mail.SMTP(s)
			if err != nil {
				t.Fatal(err)
			}
			if err := send(ctx, signInLink()); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want context.Canceled", err)
			}
		})
		t.Run("Timeout, "+string(security), func(t *testing.T) {
			s, _ := silent(t)
			s.Security, s.Timeout = security, 20*time.Millisecond
			if err := deliver(t, s, signInLink()); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want context.DeadlineExceeded", err)
			}
		})
	}
}

// drips answers, but never finishes: each step alone would be in time.
func TestTimeoutIsForTheWholeDelivery(t *testing.T) {
	s := scripted(t, func(c net.Conn) {
		for {
			if _, err := io.WriteString(c, "220-wait\r\n"); err != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	s.Timeout = 50 * time.Millisecond
	if err := deliver(t, s, signInLink()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want context.DeadlineExceeded", err)
	}
}

func TestEndlessAnswer(t *testing.T) {
	s := scripted(t, func(c net.Conn) {
		line := "220-" + strings.Repeat("x", 1<<10) + "\r\n"
		for {
			if _, err := io.WriteString(c, line); err != nil {
				return
			}
		}
	})
	keepsQuiet(t, deliver(t, s, signInLink()), "says too much")
}

func TestServerHangsUp(t *testing.T) {
	keepsQuiet(t, deliver(t, scripted(t, func(net.Conn) {}), signInLink()), "the server hung up")
}

// What the server accepted is sent, even if it never says goodbye: an error
// would void a link that is on its way.
func TestNoGoodbye(t *testing.T) {
	s := scripted(t, func(c net.Conn) {
		io.WriteString(c, "220 localhost\r\n")
		data := false
		for lines := bufio.NewScanner(c); lines.Scan(); {
			switch line := lines.Text(); {
			case line == ".":
				data = false
				io.WriteString(c, "250 kept\r\n")
			case data:
			case line == "DATA":
				data = true
				io.WriteString(c, "354 go on\r\n")
			case line == "QUIT":
				io.Copy(io.Discard, c)
			default:
				io.WriteString(c, "250 fine\r\n")
			}
		}
	})
	if err := deliver(t, s, signInLink()); err != nil {
		t.Error(err)
	}
}

func TestNobodyListens(t *testing.T) {
	s := mail.Server{Host: "smtp.example", From: "a@b.example", DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "smtp.example", IsNotFound: true}
	}}
	keepsQuiet(t, deliver(t, s, signInLink()), "mail: smtp.example:587: connecting: the name cannot be resolved")
}

func TestDefaultPorts(t *testing.T) {
	for security, want := range map[mail.Security]string{
		"": "smtp.example:587", mail.STARTTLS: "smtp.example:587", mail.ImplicitTLS: "smtp.example:465", mail.UnencryptedAnywhere: "smtp.example:25",
	} {
		var dialled string
		s := mail.Server{Host: "smtp.example", From: "a@b.example", Security: security, DialContext: func(_ context.Context, _, addr string) (net.Conn, error) {
			dialled = addr
			return nil, errors.New("nobody")
		}}
		if err := deliver(t, s, signInLink()); err == nil || dialled != want {
			t.Errorf("%q: dialled %q, want %q", security, dialled, want)
		}
	}
}
