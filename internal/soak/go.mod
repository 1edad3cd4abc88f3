module github.com/latchkeyhq/latchkey/internal/soak

go 1.26.0

require (
	github.com/jackc/pgx/v5 v5.12.0
	github.com/latchkeyhq/latchkey v0.0.0
	github.com/latchkeyhq/latchkey/adapters/pgxadapter v0.0.0
)

require (
	github.com/go-jose/go-jose/v4 v4.1.8 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	rsc.io/qr v0.2.0 // indirect
)

replace (
	github.com/latchkeyhq/latchkey => ../..
	github.com/latchkeyhq/latchkey/adapters/pgxadapter => ../../adapters/pgxadapter
)
