module github.com/latchkeyhq/latchkey/cmd/latchkey

go 1.26.0

require (
	github.com/go-sql-driver/mysql v1.10.1
	github.com/jackc/pgx/v5 v5.12.0
	github.com/latchkeyhq/latchkey v0.0.0
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	modernc.org/sqlite v1.60.1
)

replace github.com/latchkeyhq/latchkey => ../..
