module github.com/latchkeyhq/latchkey/examples/passwords

go 1.26.0

require (
	github.com/latchkeyhq/latchkey v0.0.0
	github.com/latchkeyhq/latchkey/password v0.0.0
)

require (
	github.com/go-jose/go-jose/v4 v4.1.8 // indirect
	golang.org/x/crypto v0.57.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	rsc.io/qr v0.2.0 // indirect
)

replace (
	github.com/latchkeyhq/latchkey => ../..
	github.com/latchkeyhq/latchkey/password => ../../password
)
