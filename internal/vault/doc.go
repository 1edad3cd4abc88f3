// Package vault keeps the tokens of providers: it seals them for the store, renews
// them before they expire, and revokes them. Several processes may share one store.
//
// One renewal at a time is under way for an account. Callers of a process share a
// flight, and processes share a lease. The lease protects the grant: many providers
// accept a refresh token once. The compare-and-set of the store protects the row.
package vault
