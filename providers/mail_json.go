package providers

import (
	"bytes"
	"encoding/json"
)

// jsonMail is the shape that Resend and Forward Email share.
type jsonMail struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Subject string `json:"subject"`
	HTML    string `json:"html,omitempty"`
	Text    string `json:"text"`
}

func (l letter) json() jsonMail { return jsonMail{l.From, l.To, l.Subject, l.HTML, l.Text} }

// encoded returns v as JSON, with < and & left as they are: they make up half of a mail.
func encoded(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}
