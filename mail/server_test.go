package mail_test

import (
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/mail"
)

func TestSettingsAtFault(t *testing.T) {
	good := mail.Server{Host: "smtp.example", From: "a@b.example", Username: user, Password: password}
	if _, err := mail.SMTP(good); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, want string
		change     func(*mail.Server)
	}{
		{"no host", "Server.Host is empty", func(s *mail.Server) { s.Host = "" }},
		{"a URL as host", "Server.Host is no host name", func(s *mail.Server) { s.Host = "smtp://" + user + ":" + password + "@smtp.example" }},
		{"a port in the host", "Server.Host is no host name", func(s *mail.Server) { s.Host = "smtp.example:587" }},
		{"a command in the host", "Server.Host is no host name", func(s *mail.Server) { s.Host = "smtp.example\r\nQUIT" }},
		{"port", "Server.Port is not between", func(s *mail.Server) { s.Port = 70000 }},
		{"negative port", "Server.Port is not between", func(s *mail.Server) { s.Port = -1 }},
		{"timeout", "Server.Timeout is negative", func(s *mail.Server) { s.Timeout = -1 }},
		{"no sender", "Server.From want one sender", func(s *mail.Server) { s.From = "" }},
		{"two senders", "Server.From want one sender", func(s *mail.Server) { s.From = "a@b.example, c@d.example" }},
		{"no user", "Server.Username is empty", func(s *mail.Server) { s.Username = "" }},
		{"no password", "Server.Password is empty", func(s *mail.Server) { s.Password = "" }},
		{"a command in EHLO", "Server.LocalName is no host name", func(s *mail.Server) { s.LocalName = "x\r\nMAIL FROM:<a@b.example>" }},
		{"unknown protection", "Server.Security is unknown", func(s *mail.Server) { s.Security = password }},
		{"unencrypted elsewhere", "Server.Security is Unencrypted", func(s *mail.Server) { s.Security = mail.Unencrypted }},
		{"unencrypted, name begins like loopback", "Server.Security is Unencrypted", func(s *mail.Server) { s.Host, s.Security = "localhost.evil.example", mail.Unencrypted }},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := good
			row.change(&s)
			_, err := mail.SMTP(s)
			keepsQuiet(t, err, "mail: "+row.want)
		})
	}
}

func TestLoopback(t *testing.T) {
	for _, host := range []string{"localhost", "mail.localhost", "127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"} {
		if _, err := mail.SMTP(mail.Server{Host: host, From: "a@b.example", Security: mail.Unencrypted}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestParseURL(t *testing.T) {
	for url, want := range map[string]mail.Server{
		"smtp://site:s3cret-pass@smtp.example:587":              {Host: "smtp.example", Port: 587, Username: user, Password: password, Security: mail.STARTTLS},
		"smtp://smtp.example":                                   {Host: "smtp.example", Security: mail.STARTTLS},
		"smtp://smtp.example/":                                  {Host: "smtp.example", Security: mail.STARTTLS},
		"smtps://site%40app.example:p%2F%3A%40%23@smtp.example": {Host: "smtp.example", Username: "site@app.example", Password: "p/:@#", Security: mail.ImplicitTLS},
		"smtp://smtp.example:465":                               {Host: "smtp.example", Port: 465, Security: mail.ImplicitTLS},
		"smtp://smtp.example:465?tls=starttls":                  {Host: "smtp.example", Port: 465, Security: mail.STARTTLS},
		"smtp://localhost:1025?tls=none":                        {Host: "localhost", Port: 1025, Security: mail.Unencrypted},
		"smtp://mailpit:1025?tls=none-even-over-the-network":    {Host: "mailpit", Port: 1025, Security: mail.UnencryptedAnywhere},
		"smtps://smtp.example?tls=tls":                          {Host: "smtp.example", Security: mail.ImplicitTLS},
		"smtp://[::1]:1025?tls=none":                            {Host: "::1", Port: 1025, Security: mail.Unencrypted},
	} {
		got, err := mail.ParseURL(url)
		if err != nil || got.Host != want.Host || got.Port != want.Port || got.Username != want.Username || got.Password != want.Password || got.Security != want.Security {
			t.Errorf("%s: %v, got %s:%d %s %s, %q", url, err, got.Host, got.Port, got.Username, got.Security, got.Password)
		}
	}
}

func TestParseURLRefuses(t *testing.T) {
	for url, want := range map[string]string{
		"":                                      "is empty",
		"site:s3cret-pass@smtp.example":         "smtp://",
		"https://site:s3cret-pass@smtp.example": "smtp://",
		"smtp://site:s3cret-pass%zz@smtp.example":            "malformed",
		"smtp://site:s3cret-pass@smtp.example:0":             "port",
		"smtp://site:s3cret-pass@smtp.example:99999":         "port",
		"smtp://site:s3cret-pass@":                           "no host",
		"smtp://site:s3cret-pass/x@smtp.example":             "percent-encoding",
		"smtp://site:s3cret-pass@smtp.example/x":             "percent-encoding",
		"smtp://site:s3cret-pass@smtp.example#x":             "percent-encoding",
		"smtp://site:s3cret-pass@smtp.example?secure=false":  "only hold one tls",
		"smtp://site:s3cret-pass@smtp.example?tls=none&tls=": "only hold one tls",
		"smtp://site:s3cret-pass@smtp.example?tls=maybe":     "tls in the server's URL",
		"smtps://site:s3cret-pass@smtp.example?tls=none":     "says otherwise",
		"smtp://site:s3cret-pass@smtp.example?tls=%zz":       "malformed",
	} {
		_, err := mail.ParseURL(url)
		keepsQuiet(t, err, want)
	}
}

func FuzzParseURL(f *testing.F) {
	f.Add("smtp://site:s3cret-pass@smtp.example:587?tls=none")
	f.Add("smtps://[::1]")
	f.Add("smtp://a:b@c:d@e/")
	f.Fuzz(func(t *testing.T, url string) {
		s, err := mail.ParseURL(url)
		if err != nil {
			return
		}
		if s.Host == "" || s.Security == "" || !strings.HasPrefix(strings.ToLower(url), "smtp") {
			t.Errorf("%q became %s:%d %s", url, s.Host, s.Port, s.Security)
		}
		s.From = "a@b.example"
		_, _ = mail.SMTP(s)
	})
}
