package mail_test

import (
	"fmt"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/mail"
)

func ExampleSMTP() {
	send, err := mail.SMTP(mail.Server{
		Host:     "smtp.example",
		Username: "site",
		Password: "from the environment",
		From:     "App <no-reply@app.example>",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = latchkey.New(latchkey.Config{
		Site:      latchkey.Site{URL: "https://app.example"},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Adapter:   memoryadapter.New(memoryadapter.Options{}),
		Providers: []latchkey.Provider{&latchkey.Email{Send: send}},
	})
	fmt.Println(err)
	// Output: <nil>
}

func ExampleParseURL() {
	server, err := mail.ParseURL("smtp://site:pass%2Fword@smtp.example:587") // os.Getenv("EMAIL_SERVER")
	fmt.Println(server.Host, server.Port, server.Username, server.Security, err)
	// Output: smtp.example 587 site starttls <nil>
}
