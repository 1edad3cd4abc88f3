// Package redisadapter keeps users, accounts and sessions in Redis or Valkey:
// one server, a pair behind Sentinels, or a cluster. An [Adapter] is also each
// of the stores that stand beside a SQL adapter: sessions, revocations, limits
// and used values of all instances.
//
//	client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: …, ContextTimeoutEnabled: true})
//	…
//	fast, err := redisadapter.New(client, redisadapter.Options{})
//	…
//	auth, err := latchkey.New(latchkey.Config{
//		Adapter: users, // SQL
//		Session: latchkey.SessionConfig{Store: fast}, // or Revocations, with JWTSessions
//		Limits:  latchkey.Limits{Limiter: fast, Replay: fast},
//	})
//
// # What Redis can lose
//
// Redis answers first and copies to its replicas afterwards. When a primary is
// lost, what it answered last may be undone: a new session is gone, an ended one
// is back, a new user does not exist. [Options].Replicas makes what ends sessions
// wait for copies. Users that cannot be lost belong into a SQL database, with
// the rest here. An eviction policy that removes whatever it likes (allkeys-…)
// removes users, and revocations.
//
// # The client
//
// Pools, TLS, credentials and repeated tries are the client's, which comes made.
// ContextTimeoutEnabled keeps calls within the deadline of their context without
// a goroutine for each. With DialerRetries: 1 and DialTimeout:
// 500*time.Millisecond a server that is down costs a call a tenth of a second
// instead of two. For a cluster that loses a primary, a client needs
// ClusterStateReloadInterval: time.Second and MaxRedirects: 8 besides; otherwise
// it looks for the new one for a minute, and gives up on calls that the next
// node would have answered.
//
// Only commands of Redis 7.0 and earlier are used, and scripts (EVALSHA, EVAL).
// Errors name the operation and what Redis said, never values.
package redisadapter
