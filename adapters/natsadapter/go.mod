module github.com/latchkeyhq/latchkey/adapters/natsadapter

go 1.26.0

require (
	github.com/latchkeyhq/latchkey v0.0.0
	github.com/nats-io/nats.go v1.55.0
)

require (
	github.com/go-jose/go-jose/v4 v4.1.8 // indirect
	github.com/klauspost/compress v1.20.0 // indirect
	github.com/nats-io/nkeys v0.4.16 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	golang.org/x/crypto v0.57.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	rsc.io/qr v0.2.0 // indirect
)

replace github.com/latchkeyhq/latchkey => ../..
