module github.com/latchkeyhq/latchkey/internal/interop

go 1.26.0

require github.com/latchkeyhq/latchkey v0.0.0

require (
	github.com/zitadel/oidc/v3 v3.49.2 // indirect
	golang.org/x/net v0.62.0 // indirect
)

replace github.com/latchkeyhq/latchkey => ../..
