// Package kvstore holds what adapters on key–value stores share: what is stored
// under which name, and the order of writes by which several instances agree on
// whose an e-mail address is, without transactions. It opens no connection and
// brings no driver.
//
// # A driver
//
// Implement [Conn], six methods of which none has to change two keys at once, and
// embed the [Store] that [New] returns:
//
//	type Adapter struct{ *kvstore.Store }
//
//	func New(client *driver.Client) *Adapter {
//		return &Adapter{kvstore.New(conn{client}, kvstore.Options{})}
//	}
//
// Calls that change many records of one user, such as signing out everywhere, change
// 16 of them at a time.
//
// [Follower], [LimitConn] and [LeaseConn] are for stores that do two steps in one; [WalkConn]
// is for those that list keys. Test with storagetest.TestAdapter and storagetest.TestStores.
//
// # What is stored
//
// Names say nothing of what they name: those of sessions, links, e-mail
// addresses, accounts and passkeys are SHA-256 hashes, those of sessions cut to
// 144 bits. Values are JSON that people can read, with times in milliseconds, and
// hold what people and providers have said, tokens of providers included; tokens
// of sessions are not in them. Members that a later version has written survive
// the changes of an earlier one.
//
// A record that was ended stays for a day as a mark, the value null: it keeps
// calls that are still under way from bringing it back.
//
// # How users come to be
//
// The record of a user is the truth, and a claim to an e-mail address counts only
// while its user says so. A new user is written first, then the claim, then the
// user again as whole. A call that finds a user half-way completes the user if the
// claim counts, and otherwise treats the user as absent. A change of an e-mail address
// is announced, claimed and then taken; from the first step of a deletion on the user
// does not exist. Each step is one write over the version that was read, and may be the
// last before a crash.
package kvstore
