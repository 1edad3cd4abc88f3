// Package frameworktest tests that a mounting of Latchkey in a web framework
// behaves as Latchkey does on net/http.
//
// [Test] runs all cases against a server of the framework. [Overhead] measures the
// cost of the mounting. The modules in the folder frameworks use both.
package frameworktest
