package providers

import (
	"net/http"

	"github.com/latchkeyhq/latchkey"
)

// Postmark returns a provider that sends magic links through [Postmark], in the message stream
// "outbound". Key is that of a server. If it is empty, AUTH_POSTMARK_KEY is used.
//
// [Postmark]: https://postmarkapp.com/developer/api/email-api
func Postmark(a MailAPI) (*latchkey.Email, error) {
	m := &mailer{MailAPI: a, name: "Postmark", call: postmarkCall}
	return m.email("postmark", "https://api.postmarkapp.com")
}

type postmarkMail struct {
	From, To, Subject, TextBody string
	HTMLBody                    string `json:"HtmlBody,omitempty"`
	MessageStream               string
	TrackOpens                  bool
	TrackLinks                  string // would make every link one to Postmark
}

// postmarkCall returns the call for l. Postmark refuses an address that it has deactivated
// with ErrorCode 406, whether for a hard bounce, for a complaint or by hand
// (https://postmarkapp.com/developer/webhooks/smtp-api-error). The answer does not say which,
// so Send never returns latchkey.ErrMailboxGone.
func postmarkCall(m *mailer, l letter) (call, error) {
	body, err := encoded(postmarkMail{
		From: l.From, To: l.To, Subject: l.Subject, TextBody: l.Text, HTMLBody: l.HTML,
		MessageStream: "outbound", TrackLinks: "None",
	})
	authorize := func(r *http.Request) { r.Header.Set("X-Postmark-Server-Token", m.Key) }
	return call{path: "/email", body: body, authorize: authorize}, err
}
