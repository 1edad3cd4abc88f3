module github.com/latchkeyhq/latchkey/examples/connect

go 1.26.0

require (
	connectrpc.com/connect v1.21.1
	github.com/latchkeyhq/latchkey v0.0.0
	github.com/latchkeyhq/latchkey/frameworks/connectauth v0.0.0
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/go-jose/go-jose/v4 v4.1.8 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20261019180522-ce908d29299b // indirect
	rsc.io/qr v0.2.0 // indirect
)

replace github.com/latchkeyhq/latchkey => ../..

replace github.com/latchkeyhq/latchkey/frameworks/connectauth => ../../frameworks/connectauth
