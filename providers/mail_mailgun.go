package providers

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/mailtext"
)

// The regions of Mailgun, for MailAPI.Endpoint.
const (
	MailgunUS = "https://api.mailgun.net"
	MailgunEU = "https://api.eu.mailgun.net"
)

// Mailgun returns a provider that sends magic links through [Mailgun]. Endpoint is
// [MailgunUS] if it is empty. The sending domain is that of From. If Key is empty,
// AUTH_MAILGUN_KEY is used. An error names the field of a at fault.
//
// [Mailgun]: https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/messages/post-v3--domain-name--messages
func Mailgun(a MailAPI) (*latchkey.Email, error) {
	m := &mailer{MailAPI: a, name: "Mailgun", call: mailgunCall}
	return m.email("mailgun", MailgunUS)
}

func mailgunCall(m *mailer, l letter) (call, error) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, field := range [][2]string{
		{"from", l.From},
		{"to", l.To},
		{"subject", l.Subject},
		{"html", l.HTML},
		{"text", l.Text},
		{"o:tracking", "no"}, // would make every link one to Mailgun
	} {
		if field[1] == "" {
			continue
		}
		if err := form.WriteField(field[0], field[1]); err != nil {
			return call{}, err
		}
	}
	err := form.Close()
	return call{
		path:        "/v3/" + url.PathEscape(mailtext.Domain(l.sender.Address)) + "/messages",
		contentType: form.FormDataContentType(),
		body:        b.Bytes(),
		authorize:   func(r *http.Request) { r.SetBasicAuth("api", m.Key) },
	}, err
}
