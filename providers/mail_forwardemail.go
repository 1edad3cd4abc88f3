package providers

import (
	"net/http"

	"github.com/latchkeyhq/latchkey"
)

// ForwardEmail returns a provider that sends magic links through [Forward Email]. If Key is
// empty, AUTH_FORWARDEMAIL_KEY is used. An error names the field of a at fault.
//
// [Forward Email]: https://forwardemail.net/en/email-api#create-outbound-smtp-email
func ForwardEmail(a MailAPI) (*latchkey.Email, error) {
	m := &mailer{MailAPI: a, name: "Forward Email", call: forwardEmailCall}
	return m.email("forwardemail", "https://api.forwardemail.net")
}

func forwardEmailCall(m *mailer, l letter) (call, error) {
	body, err := encoded(l.json())
	authorize := func(r *http.Request) { r.SetBasicAuth(m.Key, "") } // the key is the user
	return call{path: "/v1/emails", body: body, authorize: authorize}, err
}
