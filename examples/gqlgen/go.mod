module github.com/latchkeyhq/latchkey/examples/gqlgen

go 1.26.0

require (
	github.com/99designs/gqlgen v0.17.90
	github.com/latchkeyhq/latchkey v0.0.0
	github.com/vektah/gqlparser/v2 v2.5.33
)

require (
	github.com/agnivade/levenshtein v1.2.1 // indirect
	github.com/go-jose/go-jose/v4 v4.1.8 // indirect
	github.com/go-viper/mapstructure/v2 v2.5.0 // indirect
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/gorilla/websocket v1.5.0 // indirect
	github.com/hashicorp/golang-lru/v2 v2.0.7 // indirect
	github.com/sosodev/duration v1.4.0 // indirect
	github.com/urfave/cli/v3 v3.8.0 // indirect
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
	rsc.io/qr v0.2.0 // indirect
)

tool github.com/99designs/gqlgen

replace github.com/latchkeyhq/latchkey => ../..
