module github.com/latchkeyhq/latchkey/mail

go 1.26.0

require (
	github.com/emersion/go-sasl v0.0.0-20241020182733-b788ff22d5a6
	github.com/emersion/go-smtp v0.25.1
	github.com/latchkeyhq/latchkey v0.0.0
	github.com/wneessen/go-mail v0.8.1
)

require (
	github.com/go-jose/go-jose/v4 v4.1.8 // indirect
	golang.org/x/crypto v0.54.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	rsc.io/qr v0.2.0 // indirect
)

replace github.com/latchkeyhq/latchkey => ..
