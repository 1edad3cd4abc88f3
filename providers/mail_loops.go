package providers

import "github.com/latchkeyhq/latchkey"

// Loops returns a provider that sends magic links through [Loops], and refuses other mails. A
// transactional template there has sender, subject and words, and shows the variable url. From
// and Template have no effect. transactionalID is the template's id. If it is empty,
// AUTH_LOOPS_TRANSACTIONAL_ID is used. If Key is empty, AUTH_LOOPS_KEY is used.
//
// [Loops]: https://loops.so/docs/api-reference/send-transactional-email
func Loops(a MailAPI, transactionalID string) (*latchkey.Email, error) {
	m := &mailer{MailAPI: a, name: "Loops", hosted: true, template: transactionalID, call: loopsCall}
	return m.email("loops", "https://app.loops.so")
}

// templateVariable is the end of the name of a variable that holds a template's
// id.
const templateVariable = "TRANSACTIONAL_ID"

type loopsMail struct {
	TransactionalID string         `json:"transactionalId"`
	Email           string         `json:"email"`
	DataVariables   loopsVariables `json:"dataVariables"`
}

type loopsVariables struct {
	URL string `json:"url"`
}

func loopsCall(m *mailer, l letter) (call, error) {
	body, err := encoded(loopsMail{m.template, l.To, loopsVariables{l.URL}})
	return call{path: "/api/v1/transactional", body: body, authorize: m.bearer}, err
}
