package mail_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	netmail "net/mail"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/mail"
)

const (
	user     = "site"
	password = "s3cret-pass"
	token    = "f00dfeed"
	link     = "https://app.example/auth/callback/email?callbackUrl=%2F&token=" + token + "&email=ada%40b.example"
)

// catcher is a mail server that keeps what it is sent.
type catcher struct {
	host   string
	port   int
	roots  *x509.CertPool
	config *tls.Config // of the server

	refuse map[string]error // by command: mail, rcpt, data

	mu    sync.Mutex
	mails []caught
	users []string // who authenticated
}

// caught is one accepted mail.
type caught struct {
	from      string
	to        []string
	data      []byte
	encrypted bool
}

// listen starts a catcher; change adjusts the server before it does.
func listen(t *testing.T, implicit bool, change func(*catcher, *smtp.Server)) *catcher {
	t.Helper()
	web := httptest.NewTLSServer(nil) // for its certificate
	t.Cleanup(web.Close)
	c := &catcher{roots: x509.NewCertPool(), refuse: map[string]error{}}
	c.roots.AddCert(web.Certificate())
	s := smtp.NewServer(smtp.BackendFunc(func(conn *smtp.Conn) (smtp.Session, error) { return &session{c: c, conn: conn}, nil }))
	s.Domain = "localhost"
	s.ErrorLog = log.New(io.Discard, "", 0)
	config := &tls.Config{Certificates: web.TLS.Certificates}
	s.TLSConfig, c.config = config, config
	if change != nil {
		change(c, s)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().(*net.TCPAddr)
	c.host, c.port = addr.IP.String(), addr.Port
	if implicit {
		l = tls.NewListener(l, config)
	}
	done := make(chan struct{})
	go func() { defer close(done); s.Serve(l) }()
	t.Cleanup(func() {
		l.Close() // Close knows it only once Serve has begun
		s.Close()
		<-done
	})
	return c
}

// server is how to reach the catcher.
func (c *catcher) server() mail.Server {
	return mail.Server{
		Host: c.host, Port: c.port, From: "App <no-reply@app.example>",
		Username: user, Password: password, TLSConfig: &tls.Config{RootCAs: c.roots},
	}
}

func (c *catcher) caught() []caught {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]caught(nil), c.mails...)
}

// session is one conversation with a catcher.
type session struct {
	c    *catcher
	conn *smtp.Conn
	now  caught
}

func (s *session) Reset()                   { s.now = caught{} }
func (s *session) Logout() error            { return nil }
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, u, p string) error {
		if u != user || p != password {
			return &smtp.SMTPError{Code: 535, EnhancedCode: smtp.EnhancedCode{5, 7, 8}, Message: "no " + p + " for " + u}
		}
		s.c.mu.Lock()
		defer s.c.mu.Unlock()
		s.c.users = append(s.c.users, u)
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	_, encrypted := s.conn.TLSConnectionState()
	s.now = caught{from: from, encrypted: encrypted}
	return s.c.refuse["mail"]
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.now.to = append(s.now.to, to)
	return s.c.refuse["rcpt"]
}

func (s *session) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil || s.c.refuse["data"] != nil {
		return s.c.refuse["data"]
	}
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.now.data = data
	s.c.mails = append(s.c.mails, s.now)
	return nil
}

// parts are the decoded parts of a mail by type.
func parts(t *testing.T, data []byte) (netmail.Header, map[string]string, []string) {
	t.Helper()
	m, err := netmail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	if kind != "multipart/alternative" {
		body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
		if err != nil {
			t.Fatal(err)
		}
		return m.Header, map[string]string{kind: string(body)}, []string{kind}
	}
	found, order := map[string]string{}, []string(nil)
	for r := multipart.NewReader(m.Body, params["boundary"]); ; {
		p, err := r.NextPart() // decodes quoted-printable
		if err == io.EOF {
			return m.Header, found, order
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(p.Header.Get("Content-Type"), ";")
		found[kind] = strings.ReplaceAll(string(body), "\r\n", "\n")
		order = append(order, kind)
	}
}

// signInLink is what Latchkey hands to Send.
func signInLink() latchkey.Message {
	return latchkey.Message{Kind: latchkey.MessageSignIn, To: "ada@b.example", URL: link, Token: token, Expires: time.Unix(1e9, 0), Provider: "email"}
}

// deliver sends one link to a server.
func deliver(t *testing.T, s mail.Server, l latchkey.Message) error {
	t.Helper()
	send, err := mail.SMTP(s)
	if err != nil {
		t.Fatal(err)
	}
	return send(t.Context(), l)
}

// keepsQuiet fails the test if err is nil or holds a secret.
func keepsQuiet(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, secret := range []string{password, token, "ada@b.example"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error holds %q: %v", secret, err)
		}
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("error %q, want one about %q", err, want)
	}
}

// scripted is a server that does what serve says with its first connection.
func scripted(t *testing.T, serve func(net.Conn)) mail.Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		serve(c)
	}()
	t.Cleanup(func() { l.Close(); <-done })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return mail.Server{Host: "127.0.0.1", Port: n, From: "no-reply@app.example", Security: mail.Unencrypted}
}
