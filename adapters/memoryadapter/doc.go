// Package memoryadapter keeps users, accounts and sessions in memory: for
// tests, demonstrations and single-process sites that may forget everything
// when they stop.
//
//	store := memoryadapter.New(memoryadapter.Options{})
//	auth, err := latchkey.New(latchkey.Config{Adapter: store, Providers: …})
//
// It serves every feature of latchkey. Limits and used values are not in it: latchkey
// keeps those in memory by itself. [Adapter.Contents] shows what the store holds.
//
// Calls take turns, and so do transactions, which last as long as the function
// they run: do not wait for a network in one. Nothing is removed by itself:
// call [Adapter.Sweep] now and then.
package memoryadapter
