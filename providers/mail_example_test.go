package providers_test

import (
	"fmt"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/providers"
)

func ExampleResend() {
	resend, err := providers.Resend(providers.MailAPI{
		Key:  "re_0123", // best left empty, with AUTH_RESEND_KEY set
		From: "App <no-reply@app.example>",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	resend.ConfirmLink = new(true)
	_, err = latchkey.New(latchkey.Config{
		Site:      latchkey.Site{URL: "https://app.example"},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Adapter:   memoryadapter.New(memoryadapter.Options{}),
		Providers: []latchkey.Provider{resend},
	})
	fmt.Println(resend.ID, err)
	// Output: resend <nil>
}

func ExampleMailgun() {
	mailgun, err := providers.Mailgun(providers.MailAPI{
		Key:      "key-0123",
		From:     "App <no-reply@mg.app.example>",
		Endpoint: providers.MailgunEU,
	})
	fmt.Println(mailgun.ID, err)
	// Output: mailgun <nil>
}
