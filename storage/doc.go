// Package storage is the contract between Latchkey and a database.
//
// An application does not need it: it takes an adapter of the folder adapters and
// passes it to latchkey.Config. This package is for authors of adapters.
//
// # Writing an adapter
//
// An adapter stores records and decides nothing. It implements the six methods of
// [Adapter], and for each further feature an optional interface. These are all of them:
//
//	feature                             interface
//	stored sessions                     SessionAdapter, or a SessionStore apart from the users
//	lists of devices, ending sessions   SessionListAdapter
//	another token for a session         SessionRenewalAdapter
//	logout that begins at a provider    ProviderLogoutAdapter
//	administrators who act as users     ActorAdapter, if the tables may lack its columns; ChallengeAdapter
//	magic links                         VerificationTokenAdapter
//	lists of accounts, unlinking        AccountAdapter
//	deletion of users                   UserDeletionAdapter
//	passkeys                            AuthenticatorAdapter, AccountAdapter
//	all or nothing                      TxAdapter; in stores without transactions SignUpAdapter
//	passwords                           PasswordAdapter, ChallengeAdapter, BrowserAdapter, RevocationStore
//	second factors                      FactorAdapter, ChallengeAdapter, BrowserAdapter, RevocationStore
//	invitations, codes in mails         ChallengeAdapter
//	lists and searches of users         DirectoryAdapter
//	suspension of users                 SuspensionAdapter
//	latest activities of a user         ActivityAdapter
//	audit log                           AuditAdapter
//	provider tokens                     TokenAdapter, AccountAdapter; TokenSharer, if other programs read them
//	provider tokens under another key   AccountWalker, for the command latchkey
//	one renewal of several processes    LeaseStore
//	sign-out that ends JWT sessions     RevocationStore
//	limits and used values, shared      Limiter, ReturningLimiter, ReplayStore
//	removal of expired rows             SweepAdapter
//	the database's name in traces       SystemAdapter
//
// With stored sessions, passwords, second factors, suspensions and administrators who act
// as users need SessionListAdapter as well, or a SessionStore. An audit log that is
// required (latchkey.Audit.Required) needs TxAdapter.
//
// latchkey.New reports by name what a configuration needs and an adapter lacks.
// A method that the tables of one installation cannot serve returns an error that
// is [errors.ErrUnsupported].
//
// Begin with [Adapter] and call storagetest.TestAdapter in a test, against a real
// database: each rule has a subtest with a name. Add the optional interfaces one
// by one; the suite finds them. The example shows how errors are returned. Less
// work remains where packages know the kind of database: sqlstore has the schema
// and the statements for SQL, and kvstore has the records and the order of writes
// for stores that change one key at a time.
//
// # Rules
//
// These rules hold for every method of every interface here. The suites of
// package latchkeytest/storagetest test them.
//
//   - A lookup, update or deletion of one row that finds none returns [ErrNotFound]. A
//     method that returns a list or a number returns an empty list or 0 instead. Other
//     exceptions stand at their methods.
//   - A write that a unique key refuses returns [ErrConflict] and changes nothing.
//   - A store that cannot answer for now returns an error that says so: the error
//     of its context, an error of package net, or [ErrUnavailable]. Users are then
//     asked to try again. Any other error is reported to the operator.
//   - A canceled context ends the call with the context's error.
//   - Records are copied: a method keeps nothing of its arguments and shares
//     nothing of its result.
//   - Times are instants, also centuries ahead. They are kept to the millisecond at least
//     and returned in UTC.
//   - Text is compared exactly, byte by byte. E-mail addresses arrive in lower
//     case. A store that cannot keep a text whole, such as one that is not UTF-8,
//     refuses the write with an error. A user agent is never refused: it may be
//     altered.
//   - These sizes must fit: 1,023 bytes of a CredentialID, 1,364 of a ProviderAccountID,
//     10 KiB of each token of a provider, 20 KiB of [StoredSession].Sealed and 256 KiB of
//     [Challenge].Data.
//   - Numbers in Extra and in AuthorizationDetails keep all their digits. Their type may
//     become another, such as [json.Number].
//   - Fields that a record marks as optional read back empty if the store has no
//     column for them.
//   - Sessions, verification tokens, challenges and browsers that have expired are
//     returned as they are. A store whose engine removes them may return ErrNotFound
//     instead.
//   - Methods are safe for concurrent use.
//
// # Secrets
//
// Records that hold secrets print "[redacted]" in every form, JSON included. A
// store that keeps JSON converts them to a type that is written out on purpose:
// [AccountRecord], [StoredSessionRecord] or [VerificationTokenRecord]. An
// [Authenticator] holds no secret; [AuthenticatorRecord] gives it the names of
// Auth.js. A [User] holds no secret either, but its JSON is that of Auth.js: it leaves out
// Created, Provisioned and Suspension, which a store of JSON keeps beside it.
//
// The Token of a session is the secret in a browser's cookie. A store should keep a
// hash of it, and find the session by the hash. The Token of a verification token
// is a hash already.
//
// The names of methods and records follow the adapters of Auth.js.
package storage
