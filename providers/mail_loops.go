package providers

import (
	"cmp"
	"fmt"

	"github.com/latchkeyhq/latchkey"
)

// Loops sends magic links through [Loops]. Sender, subject and words are those
// of a transactional template there, which shows the variable url; From and
// Template have no effect. transactionalID is the template's id; empty:
// AUTH_LOOPS_TRANSACTIONAL_ID. The key is AUTH_LOOPS_KEY.
//
// [Loops]: https://loops.so/docs/api-reference/send-transactional-email
func Loops(a MailAPI, transactionalID string) (*latchkey.Email, error) {
	m := &mailer{MailAPI: a, name: "Loops", hosted: true}
	e, err := m.email("loops", "https://app.loops.so")
	if err != nil {
		return nil, err
	}
	id := cmp.Or(transactionalID, m.env("TRANSACTIONAL_ID"))
	if id == "" {
		return nil, fmt.Errorf("providers: Loops: transactionalID is empty: pass it or set %s to the id of the template", m.variable("TRANSACTIONAL_ID"))
	}
	m.call = func(m *mailer, l letter) (call, error) { return loopsCall(m, l, id) }
	return e, nil
}

type loopsMail struct {
	TransactionalID string         `json:"transactionalId"`
	Email           string         `json:"email"`
	DataVariables   loopsVariables `json:"dataVariables"`
}

type loopsVariables struct {
	URL string `json:"url"`
}

func loopsCall(m *mailer, l letter, id string) (call, error) {
	body, err := encoded(loopsMail{id, l.To, loopsVariables{l.URL}})
	return call{path: "/api/v1/transactional", body: body, authorize: m.bearer}, err
}
