// Package sitetest tests the policy of the library through its public API, on
// whole sites: security_*_test.go hold the requirements that keep attackers out,
// the other files the rest. The tests share one fixture, site_test.go.
package sitetest
