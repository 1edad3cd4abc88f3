// Package kvstore is what adapters on key–value stores share: what is stored
// under which name, and the order of writes by which several instances agree on
// whose an e-mail address is, without transactions. It opens no connection and
// brings no driver.
//
// # A driver
//
// Implement [Conn], six methods of which none has to change two keys at once.
//
// Names say nothing of what they name: those of sessions, links, e-mail
// addresses, accounts and passkeys are SHA-256 hashes. Values are readable, and
// hold what people and providers have said, tokens of providers included.
package kvstore
