package main

import "github.com/latchkeyhq/latchkey/internal/words"

// hint returns text and where to find the demo's mail, or "" for a key that needs no hint.
func hint(language, key, text string) string {
	switch key {
	case "verify.text", "verify.to", "password.sent", "password.sent.reset":
		return text + " " + mailboxHints[words.Near(language)]
	}
	return ""
}

// mailboxHints are by the tag of a built-in language.
var mailboxHints = map[string]string{
	"en":      "In this demo it waits in the mailbox of the site.",
	"ar":      "في هذا العرض التجريبي تنتظرك الرسالة في صندوق بريد الموقع (Mailbox).",
	"de":      "In dieser Demo wartet die E-Mail im Postfach der Website (Mailbox).",
	"es":      "En esta demostración el correo espera en el buzón del sitio (Mailbox).",
	"fr":      "Dans cette démonstration, l’e-mail attend dans la boîte aux lettres du site (Mailbox).",
	"it":      "In questa demo l’email attende nella casella di posta del sito (Mailbox).",
	"ja":      "このデモでは、メールはサイトのメールボックス（Mailbox）に届きます。",
	"ko":      "이 데모에서는 메일이 사이트의 메일함(Mailbox)에 도착합니다.",
	"nl":      "In deze demo wacht de e-mail in de mailbox van de site.",
	"pl":      "W tym demo wiadomość czeka w skrzynce pocztowej witryny (Mailbox).",
	"pt-BR":   "Nesta demonstração, o e-mail espera na caixa de correio do site (Mailbox).",
	"ru":      "В этой демонстрации письмо ждёт в почтовом ящике сайта (Mailbox).",
	"tr":      "Bu demoda e-posta, sitenin posta kutusunda (Mailbox) bekler.",
	"uk":      "У цій демонстрації лист чекає в поштовій скриньці сайту (Mailbox).",
	"zh-Hans": "在此演示中，邮件会送到本站的邮箱（Mailbox）。",
}
