// Package natsadapter keeps users, sessions and everything else in one key–value
// bucket of NATS JetStream. It is a module of its own:
//
//	go get github.com/latchkeyhq/latchkey/adapters/natsadapter
//
// It is an adapter without transactions and sweeping: sign-ups are recorded
// instead, and the server removes what has expired. It keeps no passwords, second factors,
// suspensions or audit log. The same value is a
// session store, a limiter, a store of used values and of revocations beside
// another adapter. A bucket of three replicas answers a write when two have it,
// so that no answered write is lost with one of them. What is decided between
// several keys, such as whose an e-mail address is, is decided by package kvstore
// with writes of one key each, over the revision that was read.
//
// # What is stored
//
// A record is a key such as u.id or s.hash, and its value a line with its version
// and a line of JSON. What belongs to a user is keys without values, b.id.s.… for
// a session. What expires has a TTL of its own, which a renewal lengthens, a day
// longer than its row and a day at least; nothing is decided by it.
//
// # Reading
//
// Reads are answered by the leader of the replicas, never directly by others,
// which are late. While a new leader is chosen, calls are repeated until their
// deadline. A leader that was cut off from the others answers reads until it
// notices, for some seconds: what was ended elsewhere meanwhile is still alive there.
//
// A client needs to publish to $KV.BUCKET.>, and to
// $JS.API.STREAM.INFO.KV_BUCKET, $JS.API.STREAM.MSG.GET.KV_BUCKET and
// $JS.API.STREAM.PURGE.KV_BUCKET. Errors name what the server said, never values.
package natsadapter
