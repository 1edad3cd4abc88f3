// Package crash holds tests of what a site on PostgreSQL goes through:
// processes that are killed in the middle of a sign-in, a database that dies
// and comes back, one that does not answer, one with too few connections, a
// mailer that fails, and several instances that do the same thing at once.
//
// The database is a real one, started by the tests. LATCHKEY_KILLS is how many
// processes are killed (200), LATCHKEY_SEED repeats the choices of an earlier
// run.
package crash
