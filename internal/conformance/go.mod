module github.com/latchkeyhq/latchkey/internal/conformance

go 1.26.0

require github.com/latchkeyhq/latchkey v0.0.0

replace github.com/latchkeyhq/latchkey => ../..
