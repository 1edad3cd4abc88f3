module github.com/latchkeyhq/latchkey/internal/sitetest

go 1.26.0

require github.com/latchkeyhq/latchkey v0.0.0

require (
	github.com/go-jose/go-jose/v4 v4.1.8 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	rsc.io/qr v0.2.0 // indirect
)

replace github.com/latchkeyhq/latchkey => ../..
