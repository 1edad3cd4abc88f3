// Package mail delivers magic links, and the other mails of a site, over SMTP.
//
// [SMTP] makes the function that [latchkey.Email] wants from a [Server], which
// [ParseURL] reads from a URL such as smtp://user:password@smtp.example:587:
//
//	server, err := mail.ParseURL(os.Getenv("EMAIL_SERVER"))
//	…
//	server.From = os.Getenv("EMAIL_FROM")
//	send, err := mail.SMTP(server)
//	…
//	&latchkey.Email{Send: send} // or latchkey.Mail{Send: send}
//
// The words and the looks are those of package mailtext unless Server.Template
// says otherwise. Services with an API of their own (Resend, SendGrid and
// others) are in package providers, which needs no SMTP.
package mail
