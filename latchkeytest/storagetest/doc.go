// Package storagetest tests that a store keeps the promises of package storage.
//
//   - [TestAdapter] is for stores of users: each [storage.Adapter].
//   - [TestStores] is for stores beside the users: of sessions, limits, used
//     values and revocations. An adapter that implements those interfaces too
//     runs both suites.
//
// The suites need an empty database of the real kind and nothing else of
// Latchkey. A store that passes them works with every feature whose interface it
// implements. latchkeytest.TestUnlink has one more test, with a running
// latchkey.Auth: two requests at once never remove the last sign-in method of a
// user.
package storagetest
