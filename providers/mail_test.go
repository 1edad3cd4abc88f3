package providers_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/mailtext"
	"github.com/latchkeyhq/latchkey/providers"
)

const (
	mailKey   = "key-0123456789"
	mailToken = "f00dfeed"
	mailLink  = "https://app.example/auth/callback/resend?callbackUrl=%2F&token=" + mailToken + "&email=ada%40b.example"
)

// sent is what a mail service received.
type sent struct {
	method, path, contentType, accept string
	header                            http.Header
	body                              []byte
}

// mailService answers every call with status and keeps the last one.
func mailService(t *testing.T, status int) (string, *sent) {
	t.Helper()
	last := new(sent)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*last = sent{r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"), r.Header.Get("Accept"), r.Header, body}
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		io.WriteString(w, `{"message":"no `+mailKey+" "+mailToken+` ada@b.example"}`)
	}))
	t.Cleanup(s.Close)
	return s.URL, last
}

// words is a template whose text can be foretold.
func words(l latchkey.Message) (mailtext.Content, error) {
	return mailtext.Content{Subject: "Sign in", Text: "t " + l.URL, HTML: "<p>" + l.URL}, nil
}

func mailAPI(endpoint string) providers.MailAPI {
	return providers.MailAPI{Key: mailKey, From: "App <no-reply@app.example>", Template: words, Endpoint: endpoint}
}

func linkTo(to string) latchkey.Message {
	return latchkey.Message{Kind: latchkey.MessageSignIn, To: to, URL: mailLink, Token: mailToken}
}

func loops(a providers.MailAPI) (*latchkey.Email, error) { return providers.Loops(a, "template-1") }

// services are all of them by id.
var services = map[string]func(providers.MailAPI) (*latchkey.Email, error){
	"resend": providers.Resend, "sendgrid": providers.SendGrid, "postmark": providers.Postmark,
	"mailgun": providers.Mailgun, "forwardemail": providers.ForwardEmail, "loops": loops,
}

func TestMailCalls(t *testing.T) {
	text, html := "t "+mailLink, "<p>"+mailLink
	plain := map[string]any{"from": "App <no-reply@app.example>", "to": "ada@b.example", "subject": "Sign in", "html": html, "text": text}
	for id, want := range map[string]struct {
		path   string
		header map[string]string
		body   map[string]any
	}{
		"resend":       {"/emails", map[string]string{"Authorization": "Bearer " + mailKey}, plain},
		"forwardemail": {"/v1/emails", map[string]string{"Authorization": "Basic a2V5LTAxMjM0NTY3ODk6"}, plain},
		"postmark": {"/email", map[string]string{"X-Postmark-Server-Token": mailKey, "Authorization": ""}, map[string]any{
			"From": "App <no-reply@app.example>", "To": "ada@b.example", "Subject": "Sign in", "TextBody": text, "HtmlBody": html,
			"MessageStream": "outbound", "TrackOpens": false, "TrackLinks": "None",
		}},
		"sendgrid": {"/v3/mail/send", map[string]string{"Authorization": "Bearer " + mailKey}, map[string]any{
			"personalizations": []any{map[string]any{"to": []any{map[string]any{"email": "ada@b.example"}}}},
			"from":             map[string]any{"email": "no-reply@app.example", "name": "App"},
			"subject":          "Sign in",
			"content":          []any{map[string]any{"type": "text/plain", "value": text}, map[string]any{"type": "text/html", "value": html}},
			"tracking_settings": map[string]any{
				"click_tracking": map[string]any{"enable": false, "enable_text": false}, "open_tracking": map[string]any{"enable": false},
			},
		}},
		"loops": {"/api/v1/transactional", map[string]string{"Authorization": "Bearer " + mailKey}, map[string]any{
			"transactionalId": "template-1", "email": "ada@b.example", "dataVariables": map[string]any{"url": mailLink},
		}},
	} {
		t.Run(id, func(t *testing.T) {
			endpoint, got := mailService(t, 202)
			e := mustMail(t, id, mailAPI(endpoint))
			if err := e.Send(t.Context(), linkTo("ada@b.example")); err != nil {
				t.Fatal(err)
			}
			if got.method != "POST" || got.path != want.path || got.contentType != "application/json" || got.accept != "application/json" {
				t.Errorf("called %s %s as %s for %s", got.method, got.path, got.contentType, got.accept)
			}
			for name, value := range want.header {
				if got.header.Get(name) != value {
					t.Errorf("%s: %q, want %q", name, got.header.Get(name), value)
				}
			}
			var body map[string]any
			if err := json.Unmarshal(got.body, &body); err != nil || !reflect.DeepEqual(body, want.body) {
				t.Errorf("%v, body %s", err, got.body)
			}
		})
	}
}

// services get domains in ASCII.
func TestMailDomainsBeyondASCII(t *testing.T) {
	for id := range services {
		t.Run(id, func(t *testing.T) {
			endpoint, got := mailService(t, 202)
			if err := mustMail(t, id, mailAPI(endpoint)).Send(t.Context(), linkTo("ada@bücher.example")); err != nil {
				t.Fatal(err)
			}
			if body := string(got.body); !strings.Contains(body, "ada@xn--bcher-kva.example") {
				t.Errorf("posted %s", body)
			}
		})
	}
}

func TestMailgunCall(t *testing.T) {
	endpoint, got := mailService(t, 200)
	e := mustMail(t, "mailgun", mailAPI(endpoint))
	if err := e.Send(t.Context(), linkTo("ada@b.example")); err != nil {
		t.Fatal(err)
	}
	if user, key, _ := (&http.Request{Header: got.header}).BasicAuth(); got.method != "POST" || got.path != "/v3/app.example/messages" || user != "api" || key != mailKey {
		t.Errorf("called %s %s as %s:%s", got.method, got.path, user, key)
	}
	kind, params, err := mime.ParseMediaType(got.contentType)
	if err != nil || kind != "multipart/form-data" {
		t.Fatalf("content type %q, %v", got.contentType, err)
	}
	form, err := multipart.NewReader(strings.NewReader(string(got.body)), params["boundary"]).ReadForm(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"from": {"App <no-reply@app.example>"}, "to": {"ada@b.example"}, "subject": {"Sign in"},
		"text": {"t " + mailLink}, "html": {"<p>" + mailLink}, "o:tracking": {"no"},
	}
	if !reflect.DeepEqual(form.Value, want) {
		t.Errorf("form %q", form.Value)
	}
}

func mustMail(t *testing.T, id string, a providers.MailAPI) *latchkey.Email {
	t.Helper()
	e, err := services[id](a)
	if err != nil {
		t.Fatal(err)
	}
	if e.ID != id || e.Name == "" {
		t.Errorf("%s: id %q, name %q", id, e.ID, e.Name)
	}
	return e
}

// hosts remembers where a client would have called.
type hosts struct{ called []string }

func (h *hosts) RoundTrip(r *http.Request) (*http.Response, error) {
	h.called = append(h.called, r.URL.String())
	return &http.Response{StatusCode: 200, Body: http.NoBody, Request: r}, nil
}

func TestMailEndpoints(t *testing.T) {
	for _, row := range []struct{ id, endpoint, want string }{
		{"resend", "", "https://api.resend.com/emails"},
		{"forwardemail", "", "https://api.forwardemail.net/v1/emails"},
		{"postmark", "", "https://api.postmarkapp.com/email"},
		{"sendgrid", "", "https://api.sendgrid.com/v3/mail/send"},
		{"sendgrid", providers.SendGridEU, "https://api.eu.sendgrid.com/v3/mail/send"},
		{"loops", "", "https://app.loops.so/api/v1/transactional"},
		{"mailgun", "", "https://api.mailgun.net/v3/app.example/messages"},
		{"mailgun", providers.MailgunUS, "https://api.mailgun.net/v3/app.example/messages"},
		{"mailgun", providers.MailgunEU, "https://api.eu.mailgun.net/v3/app.example/messages"},
	} {
		seen := new(hosts)
		a := mailAPI(row.endpoint)
		a.HTTPClient = &http.Client{Transport: seen}
		if err := mustMail(t, row.id, a).Send(t.Context(), linkTo("ada@b.example")); err != nil {
			t.Error(err)
		}
		if len(seen.called) != 1 || seen.called[0] != row.want {
			t.Errorf("%s called %q, want %q once", row.id, seen.called, row.want)
		}
		if a.HTTPClient.CheckRedirect != nil {
			t.Error("the caller's client was changed")
		}
	}
}

// Auth.js' Mailgun takes bare mailboxes only, and its SendGrid too.
func TestMailSenders(t *testing.T) {
	for from, want := range map[string][2]string{
		"no-reply@app.example":           {"", "/v3/app.example/messages"},
		"App <no-reply@app.example>":     {"App", "/v3/app.example/messages"},
		`"a@b, Inc." <x@mg.app.example>`: {"a@b, Inc.", "/v3/mg.app.example/messages"},
	} {
		endpoint, got := mailService(t, 200)
		a := mailAPI(endpoint)
		a.From = from
		if err := mustMail(t, "mailgun", a).Send(t.Context(), linkTo("ada@b.example")); err != nil || got.path != want[1] {
			t.Errorf("%s: Mailgun was called at %s, %v", from, got.path, err)
		}
		if err := mustMail(t, "sendgrid", a).Send(t.Context(), linkTo("ada@b.example")); err != nil {
			t.Error(err)
		}
		var body struct{ From struct{ Email, Name string } }
		if err := json.Unmarshal(got.body, &body); err != nil || body.From.Name != want[0] || !strings.HasSuffix(from, body.From.Email+strings.Repeat(">", strings.Count(from, ">"))) {
			t.Errorf("%s: SendGrid got %+v, %v", from, body.From, err)
		}
	}
}

func TestMailProviderSenderComesFirst(t *testing.T) {
	endpoint, got := mailService(t, 200)
	l := linkTo("ada@b.example")
	l.From = "other@app.example"
	if err := mustMail(t, "resend", mailAPI(endpoint)).Send(t.Context(), l); err != nil || !strings.Contains(string(got.body), `"from":"other@app.example"`) {
		t.Errorf("%v, body %s", err, got.body)
	}
}

// quiet fails the test if err is nil or holds a secret.
func quiet(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, secret := range []string{mailKey, mailToken, "ada@b.example"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error holds %q: %v", secret, err)
		}
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("error %q, want one about %q", err, want)
	}
}

func TestMailAnswers(t *testing.T) {
	for status, want := range map[int]string{
		401: "the key was refused: compare AUTH_RESEND_KEY", 403: "the key was refused", 404: "no such domain", 422: "is the domain of From verified",
		429: "too many mails", 500: "the service failed (status 500)", 302: "the API has moved", 307: "the API has moved", 308: "the API has moved",
	} {
		endpoint, got := mailService(t, status)
		quiet(t, mustMail(t, "resend", mailAPI(endpoint)).Send(t.Context(), linkTo("ada@b.example")), want)
		if got.path != "/emails" {
			t.Errorf("status %d: the link was taken to %s", status, got.path)
		}
	}
}

func TestMailServiceThatNeverAnswers(t *testing.T) {
	release, met := make(chan struct{}), make(chan struct{}, 8)
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { met <- struct{}{}; <-release }))
	defer s.Close()
	defer close(release)
	a := mailAPI(s.URL)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-met; cancel() }()
	if err := mustMail(t, "resend", a).Send(ctx, linkTo("ada@b.example")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	a.Timeout = 1
	if err := mustMail(t, "resend", a).Send(t.Context(), linkTo("ada@b.example")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want context.DeadlineExceeded", err)
	}
}

func TestMailEndlessAnswer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<10)); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	if err := mustMail(t, "resend", mailAPI(s.URL)).Send(t.Context(), linkTo("ada@b.example")); err != nil {
		t.Error(err)
	}
}

func TestMailServiceIsGone(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	quiet(t, mustMail(t, "resend", mailAPI(s.URL)).Send(t.Context(), linkTo("ada@b.example")), "providers: ")
}

func TestHostileMailStaysHere(t *testing.T) {
	for id := range services {
		for _, to := range []string{"a@b.example,c@d.example", "A <a@b.example>", "a@b.example\r\nBcc: c@d.example", ""} {
			endpoint, got := mailService(t, 200)
			quiet(t, mustMail(t, id, mailAPI(endpoint)).Send(t.Context(), linkTo(to)), "recipient")
			if got.method != "" {
				t.Errorf("R-144 %s was asked to write to %q", id, to)
			}
		}
	}
	for name, template := range map[string]func(latchkey.Message) (mailtext.Content, error){
		"header in subject": func(latchkey.Message) (mailtext.Content, error) {
			return mailtext.Content{Subject: "x\r\nBcc: c@d.example", Text: "x"}, nil
		},
		"no text": func(latchkey.Message) (mailtext.Content, error) {
			return mailtext.Content{Subject: "x"}, nil
		},
		"cannot": func(latchkey.Message) (mailtext.Content, error) {
			return mailtext.Content{}, io.ErrNoProgress
		},
		"broken link": func(latchkey.Message) (mailtext.Content, error) {
			return mailtext.Compose(latchkey.Message{Kind: latchkey.MessageSignIn})
		},
	} {
		endpoint, got := mailService(t, 200)
		a := mailAPI(endpoint)
		a.Template = template
		quiet(t, mustMail(t, "resend", a).Send(t.Context(), linkTo("ada@b.example")), "the template failed")
		if got.method != "" {
			t.Errorf("%s: sent all the same", name)
		}
	}
	l := linkTo("ada@b.example")
	l.From = "a@b.example\r\nBcc: c@d.example"
	endpoint, _ := mailService(t, 200)
	quiet(t, mustMail(t, "resend", mailAPI(endpoint)).Send(t.Context(), l), "Email.From")
}

func TestMailSettingsAtFault(t *testing.T) {
	for _, row := range []struct {
		name, want string
		change     func(*providers.MailAPI)
	}{
		{"no key", "MailAPI.Key is empty: set it or AUTH_RESEND_KEY", func(a *providers.MailAPI) { a.Key = "" }},
		{"no key of another id", "AUTH_MY_MAIL_KEY", func(a *providers.MailAPI) { a.Key, a.ID = "", "my-mail" }},
		{"header in key", "holds spaces", func(a *providers.MailAPI) { a.Key = mailKey + "\r\nX: y" }},
		{"no sender", "MailAPI.From: want one sender", func(a *providers.MailAPI) { a.From = "" }},
		{"two senders", "MailAPI.From: want one sender", func(a *providers.MailAPI) { a.From = "a@b.example, c@d.example" }},
		{"plain http", "MailAPI.Endpoint", func(a *providers.MailAPI) { a.Endpoint = "http://api.example" }},
		{"no URL", "MailAPI.Endpoint", func(a *providers.MailAPI) { a.Endpoint = "api.example" }},
		{"query", "MailAPI.Endpoint", func(a *providers.MailAPI) { a.Endpoint = "https://api.example?key=" + mailKey }},
		{"timeout", "MailAPI.Timeout", func(a *providers.MailAPI) { a.Timeout = -1 }},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := mailAPI("")
			a.Getenv = func(string) string { return "" }
			row.change(&a)
			_, err := providers.Resend(a)
			quiet(t, err, row.want)
		})
	}
}

func TestMailEnvironment(t *testing.T) {
	endpoint, got := mailService(t, 200)
	a := mailAPI(endpoint)
	a.ID, a.Key, a.Getenv = "my-loops", "", func(name string) string {
		return map[string]string{"AUTH_MY_LOOPS_KEY": mailKey, "AUTH_MY_LOOPS_TRANSACTIONAL_ID": "template-2"}[name]
	}
	e, err := providers.Loops(a, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Send(t.Context(), linkTo("ada@b.example")); err != nil || got.header.Get("Authorization") != "Bearer "+mailKey || !strings.Contains(string(got.body), "template-2") {
		t.Errorf("%v, %s", err, got.body)
	}
}

// keys come from the environment that latchkey.New is given.
func TestMailEnvironmentOfTheSite(t *testing.T) {
	t.Setenv("AUTH_RESEND_KEY", "of-the-process")
	t.Setenv("AUTH_LOOPS_KEY", "of-the-process")
	t.Setenv("AUTH_LOOPS_TRANSACTIONAL_ID", "of-the-process")
	endpoint, got := mailService(t, 200)
	for id, make := range map[string]func(providers.MailAPI) (*latchkey.Email, error){
		"resend": providers.Resend,
		"loops":  func(a providers.MailAPI) (*latchkey.Email, error) { return providers.Loops(a, "") },
	} {
		a := mailAPI(endpoint)
		a.Key = ""
		e, err := make(a)
		if err != nil || e.Send != nil {
			t.Fatalf("%s: %v", id, err)
		}
		send, err := e.NewSend(func(name string) string {
			return map[string]string{"AUTH_RESEND_KEY": mailKey, "AUTH_LOOPS_KEY": mailKey, "AUTH_LOOPS_TRANSACTIONAL_ID": "template-3"}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := send(t.Context(), linkTo("ada@b.example")); err != nil || got.header.Get("Authorization") != "Bearer "+mailKey || strings.Contains(string(got.body), "process") {
			t.Errorf("%s: %v, %s", id, err, got.body)
		}
		_, err = e.NewSend(func(string) string { return "" })
		quiet(t, err, "set it or AUTH_"+strings.ToUpper(id)+"_KEY")
	}
}

func TestLoopsNeedsATemplate(t *testing.T) {
	_, err := providers.Loops(providers.MailAPI{Key: mailKey, Getenv: func(string) string { return "" }}, "")
	quiet(t, err, "set AUTH_LOOPS_TRANSACTIONAL_ID")
}

func TestDefaultWords(t *testing.T) {
	endpoint, got := mailService(t, 200)
	a := mailAPI(endpoint)
	a.Template = nil
	if err := mustMail(t, "resend", a).Send(t.Context(), linkTo("ada@b.example")); err != nil {
		t.Fatal(err)
	}
	var body struct{ Subject, Text, HTML string }
	if err := json.Unmarshal(got.body, &body); err != nil || body.Subject != "Sign in to app.example" || !strings.Contains(body.Text, mailLink) || !strings.Contains(body.HTML, "<a href") {
		t.Errorf("%v, body %s", err, got.body)
	}
}
