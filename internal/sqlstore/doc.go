// Package sqlstore keeps users, accounts and sessions in SQL databases. It has
// the statements, the schemas and what to make of answers; how to reach a
// database is for the adapters around it to say, with a [Conn].
package sqlstore
