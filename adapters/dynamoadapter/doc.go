// Package dynamoadapter keeps users, sessions and everything else in one table
// of Amazon DynamoDB. It is a module of its own:
//
//	go get github.com/latchkeyhq/latchkey/adapters/dynamoadapter
//
// It is an adapter without transactions and sweeping: sign-ups are recorded
// instead, and DynamoDB removes what has expired. It keeps no passwords, second factors,
// suspensions or audit log. The same value is a
// session store, a limiter, a store of used values and of revocations beside
// another adapter. What is decided between several items, such as whose an e-mail
// address is, is decided by package kvstore with conditional writes of one item
// each, at half the price of DynamoDB's transactions.
//
// # What is stored
//
// Each record is an item with pk = sk, such as USER#id or SESSION#hash, its
// version in v and JSON in value. What belongs to a user stands in items with the
// user's pk and OWNS#… as sk. ttl is when DynamoDB may remove an item, in seconds,
// and decides nothing: it does so hours or days late. All reads are consistent.
//
// With [AuthJS] users, accounts, sessions and links are the items of
// @auth/dynamodb-adapter, which may work on the table at the same time.
package dynamoadapter
