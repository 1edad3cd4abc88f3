// The guides are no part of what users of the module download: a go.mod keeps them out.
module github.com/latchkeyhq/latchkey/docs

go 1.26.0
