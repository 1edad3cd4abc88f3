package providers

import "github.com/latchkeyhq/latchkey"

// The regions of SendGrid, for MailAPI.Endpoint.
const (
	SendGridGlobal = "https://api.sendgrid.com"
	SendGridEU     = "https://api.eu.sendgrid.com"
)

// SendGrid returns a provider that sends magic links through [SendGrid]. Endpoint is
// [SendGridGlobal] if it is empty. If Key is empty, AUTH_SENDGRID_KEY is used.
//
// [SendGrid]: https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send
func SendGrid(a MailAPI) (*latchkey.Email, error) {
	m := &mailer{MailAPI: a, name: "SendGrid", call: sendGridCall}
	return m.email("sendgrid", SendGridGlobal)
}

type sendGridMail struct {
	Personalizations []sendGridTo     `json:"personalizations"`
	From             sendGridMailbox  `json:"from"`
	Subject          string           `json:"subject"`
	Content          []sendGridPart   `json:"content"` // plain text first, or it is refused
	TrackingSettings sendGridTracking `json:"tracking_settings"`
}

type sendGridTo struct {
	To []sendGridMailbox `json:"to"`
}

type sendGridMailbox struct {
	Email string `json:"email"`
	Name  string `json:"name,omitempty"`
}

type sendGridPart struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// sendGridTracking is off by its zero value. On, every link is one to SendGrid.
type sendGridTracking struct {
	Clicks struct {
		Enable     bool `json:"enable"`
		EnableText bool `json:"enable_text"`
	} `json:"click_tracking"`
	Opens struct {
		Enable bool `json:"enable"`
	} `json:"open_tracking"`
}

func sendGridCall(m *mailer, l letter) (call, error) {
	content := []sendGridPart{{"text/plain", l.Text}}
	if l.HTML != "" {
		content = append(content, sendGridPart{"text/html", l.HTML})
	}
	body, err := encoded(sendGridMail{
		Personalizations: []sendGridTo{{To: []sendGridMailbox{{Email: l.To}}}},
		From:             sendGridMailbox{l.sender.Address, l.sender.Name},
		Subject:          l.Subject,
		Content:          content,
	})
	return call{path: "/v3/mail/send", body: body, authorize: m.bearer}, err
}
