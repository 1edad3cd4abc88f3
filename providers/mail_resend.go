package providers

import "github.com/latchkeyhq/latchkey"

// Resend returns a provider that sends magic links through [Resend]. If Key is empty,
// AUTH_RESEND_KEY is used. Click tracking is a setting of the domain there: leave it off, or
// a reader of the tracker's log can sign in first. An error names the field of a at fault.
//
// [Resend]: https://resend.com/docs/api-reference/emails/send-email
func Resend(a MailAPI) (*latchkey.Email, error) {
	m := &mailer{MailAPI: a, name: "Resend", call: resendCall}
	return m.email("resend", "https://api.resend.com")
}

func resendCall(m *mailer, l letter) (call, error) {
	body, err := encoded(l.json())
	return call{path: "/emails", body: body, authorize: m.bearer}, err
}
