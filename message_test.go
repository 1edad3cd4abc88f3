package latchkey

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/failure"
)

// post keeps the mails of a site.
type post struct {
	mu   sync.Mutex
	sent []Message
	fail error
	log  bytes.Buffer
}

func (p *post) send(_ context.Context, m Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, m)
	return p.fail
}

// setup returns a site whose mails go to p.
func (p *post) setup(t *testing.T, change ...func(*Config)) *setup {
	t.Helper()
	c := Config{
		Site: Site{URL: "https://app.example"}, Secrets: []string{"a secret that is long enough for this"},
		Providers: []Provider{&Credentials{AccountField: "name", Authorize: func(context.Context, map[string]string, *Request) (User, error) { return User{}, nil }}},
		Mail:      Mail{Send: p.send, From: "App <app@app.example>"},
		Theme:     Theme{Name: "App"},
		Runtime:   Runtime{Logger: slog.New(slog.NewTextHandler(&p.log, nil))},
	}
	for _, f := range change {
		f(&c)
	}
	s, err := prepare(c.WithEnv(func(string) string { return "" }), "", common{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func visitOf(s *setup) *visit {
	r := &Request{Method: http.MethodPost, Header: http.Header{"Accept-Language": {"de"}}, RemoteAddr: "192.0.2.1:1"}
	return &visit{request: r, now: s.now, cookies: browser.Cookies{Specs: s.cookieSpecs[1]}, about: bareExchange(s, r, "")}
}

// now has what follows an answer run at once.
func now(c *Config) {
	c.Runtime.Background = func(f func(context.Context)) { f(context.Background()) }
}

func TestMailsShareOneLimit(t *testing.T) {
	var p post
	s := p.setup(t, func(c *Config) { c.Limits.MailsPerRecipient = Rate{Events: 3, Per: time.Hour} })
	kinds := []MessageKind{MessageVerify, MessagePasswordReset, MessageFactorCode, MessageNewEmail}
	for i, kind := range kinds {
		err := s.mails.send(t.Context(), outgoing{Message: Message{Kind: kind, To: "ada@example.com"}}, asker{})
		if refused := errors.Is(err, errTooManyMails); refused != (i == 3) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	for _, kind := range []MessageKind{MessagePasswordChanged, MessageFactorAdded} {
		for i := range 2 {
			err := s.mails.send(t.Context(), outgoing{Message: Message{Kind: kind, To: "ada@example.com"}}, asker{})
			if refused := errors.Is(err, errTooManyMails); refused != (i == 1) {
				t.Errorf("notice %s, time %d: %v", kind, i, err)
			}
		}
	}
	if m := p.sent[0]; m.From != "App <app@app.example>" || m.Theme.Name != "App" {
		t.Errorf("%+v", m)
	}
}

// what a client asks for counts for it whether or not a mail leaves, so that the mails
// that it still gets do not tell which addresses are known.
func TestMailsOfAClientTellNoAddress(t *testing.T) {
	for name, m := range map[string]outgoing{
		"an unknown address":              {},
		"a known one":                     {Message: Message{Kind: MessagePasswordReset, To: "ada@example.com"}},
		"one that was mailed enough":      {Message: Message{Kind: MessagePasswordReset, To: "full@example.com"}},
		"a notice, which nobody asks for": {Message: Message{Kind: MessagePasswordChanged, To: "ada@example.com"}},
	} {
		var p post
		s := p.setup(t, now, func(c *Config) {
			c.Limits.MailsPerClient, c.Limits.MailsPerRecipient = Rate{Events: 4, Per: time.Hour}, Rate{Events: 3, Per: time.Hour}
		})
		for range 3 {
			_ = s.mails.send(t.Context(), outgoing{Message: Message{Kind: MessageVerify, To: "full@example.com"}}, asker{})
		}
		ask := func(m outgoing) {
			s.mails.sendLater(t.Context(), askerOf(t.Context(), s, visitOf(s)), func(context.Context) (outgoing, error) { return m, nil })
		}
		for range 3 {
			ask(m)
		}
		before, want := len(p.sent), 1
		for i := range 4 {
			ask(outgoing{Message: Message{Kind: MessagePasswordReset, To: string('a'+rune(i)) + "@own.example"}})
		}
		if m.Kind.isNotice() {
			want = 4
		}
		if got := len(p.sent) - before; got != want {
			t.Errorf("R-716 after three questions about %s the client gets %d mails, want %d", name, got, want)
		}
	}
}

// F-096: an error of a Send that repeats the mail brings nothing secret into the log.
func TestErrorsOfMailsHoldNoSecret(t *testing.T) {
	const url, token, code = "https://app.example/auth/password?token=canary-token", "canary-token", "13572468"
	p := post{fail: errors.New("554 rejected: " + url + " " + code)}
	s := p.setup(t, now)
	s.mails.sendLater(t.Context(), askerOf(t.Context(), s, visitOf(s)), func(context.Context) (outgoing, error) {
		return outgoing{Message: Message{Kind: MessagePasswordReset, To: "ada@example.com", URL: url, Token: token, Code: code}}, nil
	})
	if log := p.log.String(); strings.Contains(log, token) || strings.Contains(log, code) || !strings.Contains(log, "554 rejected") {
		t.Errorf("log: %s", log)
	}
}

func TestMailsLeaveAfterTheAnswer(t *testing.T) {
	var p post
	s := p.setup(t)
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "kept"))
	answered, done := make(chan struct{}), make(chan error, 1)
	s.mails.sendLater(ctx, askerOf(ctx, s, visitOf(s)), func(ctx context.Context) (outgoing, error) {
		<-answered
		if ctx.Err() != nil || ctx.Value(key{}) != "kept" {
			done <- errors.New("the end of the request reached the mail, or its values did not")
		}
		close(done)
		return outgoing{}, ErrNotFound
	})
	cancel()
	close(answered)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestMailsHaveTheLanguageOfTheRequest(t *testing.T) {
	var p post
	s := p.setup(t, now)
	s.mails.sendLater(t.Context(), askerOf(t.Context(), s, visitOf(s)), func(context.Context) (outgoing, error) {
		return outgoing{Message: Message{Kind: MessageVerify, To: "ada@example.com"}}, nil
	})
	if len(p.sent) != 1 || p.sent[0].Language != "de" {
		t.Errorf("%+v", p.sent)
	}
}

func TestBackgroundReplacesThePool(t *testing.T) {
	for name, c := range map[string]struct {
		background func(f func(context.Context))
		ends, logs bool
	}{
		"its context ends the work": {background: func(f func(context.Context)) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			f(ctx)
		}, ends: true},
		"its panic is logged": {background: func(func(context.Context)) { panic("no room") }, logs: true},
	} {
		t.Run(name, func(t *testing.T) {
			var p post
			s := p.setup(t, func(cfg *Config) { cfg.Runtime.Background = c.background })
			ended := false
			s.mails.runLater(t.Context(), "a test", func(ctx context.Context) error {
				<-ctx.Done()
				ended = true
				return nil
			})
			if ended != c.ends || strings.Contains(p.log.String(), "panic") != c.logs {
				t.Errorf("ended %t, log %s", ended, &p.log)
			}
		})
	}
}

func TestPanicAfterTheAnswerIsLogged(t *testing.T) {
	var p post
	s := p.setup(t, now)
	s.mails.runLater(t.Context(), "a test", func(context.Context) error { panic("oh") })
	if !strings.Contains(p.log.String(), "panic") {
		t.Errorf("log: %s", &p.log)
	}
}

func TestMailSenders(t *testing.T) {
	var mailed, linked post
	email := &Email{Send: linked.send, From: "link@app.example"}
	for name, c := range map[string]struct {
		change     func(*Config)
		to         *post
		from, want string
	}{
		"Mail.Send": {func(*Config) {}, &mailed, "App <app@app.example>", ""},
		"without it, that of the Email provider": {func(c *Config) {
			c.Mail = Mail{}
			c.Providers, c.Adapter = append(c.Providers, email), nil
		}, &linked, "link@app.example", ""},
		"with neither, New names field and cure": {func(c *Config) { c.Mail = Mail{} }, nil, "", "Password sends mails: set Mail.Send"},
	} {
		t.Run(name, func(t *testing.T) {
			var errs failure.List
			cfg := Config{Providers: []Provider{&Credentials{}}, Mail: Mail{Send: mailed.send, From: "App <app@app.example>"}}
			c.change(&cfg)
			s, _ := prepare(cfg.WithEnv(func(string) string { return "" }), "", common{})
			s.mails.need(&errs, "Password")
			if c.want != "" {
				if len(errs) != 1 || !strings.Contains(errs[0].Error(), c.want) {
					t.Errorf("%v", errs)
				}
				return
			}
			if err := s.mails.send(t.Context(), outgoing{Message: Message{Kind: MessageVerify, To: "ada@example.com"}}, asker{}); err != nil {
				t.Fatal(err)
			}
			if len(errs) > 0 || len(c.to.sent) != 1 || c.to.sent[0].From != c.from {
				t.Errorf("%v, %+v", errs, c.to.sent)
			}
		})
	}
}
