// Package soak runs a site for minutes, under load and under faults, and holds every
// visitor's view of it to a ledger: go test ./internal/soak. LATCHKEY_SOAK says how long,
// such as 10m; without it the run takes a few seconds. LATCHKEY_SEED repeats a schedule.
package soak
