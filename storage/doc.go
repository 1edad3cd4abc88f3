// Package storage is the contract between Latchkey and a database.
//
// An adapter stores records and decides nothing. It implements [Adapter], and
// for each feature that needs more of it an optional interface: the table below.
// latchkey.New reports by name what a configuration needs and an adapter lacks.
//
//	feature                             interface
//	stored sessions                     SessionAdapter, or a SessionStore apart from the users
//	lists of devices, ending sessions   SessionListAdapter
//	magic links                         VerificationTokenAdapter
//	lists of accounts, unlinking        AccountAdapter
//	deletion of users                   UserDeletionAdapter
//	passkeys                            AuthenticatorAdapter
//	all or nothing                      TxAdapter; in stores without transactions SignUpAdapter
//	removal of expired rows             SweepAdapter
//	sign-out that ends JWT sessions     RevocationStore
//	limits and used values, shared      Limiter, ReturningLimiter, ReplayStore
//
// # Rules
//
// These rules hold for every method of every interface here. The suites of
// package latchkeytest/storagetest test them.
//
//   - A lookup, update or deletion that finds no row returns [ErrNotFound].
//   - A write that a unique key refuses returns [ErrConflict] and changes nothing.
//   - A store that cannot answer for now returns an error that says so: the error
//     of its context, an error of package net, or [ErrUnavailable]. Users are then
//     asked to try again. Any other error is reported to the operator.
//   - A store whose tables lack what a method needs returns an error that is
//     [errors.ErrUnsupported].
//   - A canceled context ends the call with the context's error.
//   - Records are copied: a method keeps nothing of its arguments and shares
//     nothing of its result.
//   - Times are instants. They are kept to the millisecond at least and returned
//     in UTC.
//   - Text is compared exactly, byte by byte. E-mail addresses arrive in lower
//     case.
//   - Fields that a record marks as optional read back empty if the store has no
//     room for them.
//   - Sessions and verification tokens that have expired are returned as they
//     are. A store whose engine removes them may return ErrNotFound instead.
//   - Methods are safe for concurrent use.
//
// The names of methods and records follow the adapters of Auth.js.
package storage
