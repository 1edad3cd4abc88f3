// Package realservers starts real database servers for tests, each with its data
// in a private directory, and programs of Node beside them, and stops them when the
// test ends. A server dies with the test binary, even one that is killed.
//
// A test whose server is not installed is skipped, and so is each of them on
// systems other than Linux; with LATCHKEY_REQUIRE_SERVERS=1 in the environment
// it fails.
package realservers
