package otp

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// URI returns the key URI of an authenticator app. The label is "issuer:account", or
// account if issuer is empty. Colons inside of issuer and account become spaces, since
// apps split the label at a colon, and each is cut to 200 bytes.
func URI(issuer, account string, secret []byte) string {
	issuer, account = label(issuer), label(account)
	named := escape(account)
	query := "?secret=" + Text(secret)
	if issuer != "" {
		named = escape(issuer) + ":" + named
		query += "&issuer=" + escape(issuer)
	}
	return "otpauth://totp/" + named + query + "&algorithm=SHA1&digits=6&period=30"
}

// longestLabel is the limit of each part of the label in bytes: a longer URI makes a
// QR code that cameras read badly.
const longestLabel = 200

// label returns text on one line, without colons, and cut to longestLabel bytes.
func label(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(strings.ReplaceAll(text, ":", " "), "")), " ")
	for len(text) > longestLabel {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return strings.TrimSpace(text)
}

// escape returns text escaped for a path or a query. A space is %20, as apps misread a +.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
