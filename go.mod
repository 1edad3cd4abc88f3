module github.com/latchkeyhq/latchkey

go 1.26.0

require (
	github.com/go-jose/go-jose/v4 v4.1.8
	golang.org/x/sync v0.24.0
	golang.org/x/text v0.43.0
	rsc.io/qr v0.2.0
)
