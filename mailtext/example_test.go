package mailtext_test

import (
	"fmt"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/mailtext"
)

func ExampleCompose() {
	m, err := mailtext.Compose(latchkey.Message{Kind: latchkey.MessageSignIn, URL: "https://app.example/auth/callback/email?token=f00d"})
	fmt.Println(err)
	fmt.Println(m.Subject)
	fmt.Print(m.Text)
	// Output:
	// <nil>
	// Sign in to app.example
	// Sign in to app.example
	// https://app.example/auth/callback/email?token=f00d
	//
	// If you did not request this email you can safely ignore it.
}
