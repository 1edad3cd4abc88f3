// Package test runs the adapter suite and more on sqladapter with real drivers
// and real servers. It is a module of its own, so that no program that uses
// sqladapter inherits the drivers. LATCHKEY_RACES is how many rounds each race of
// whole sign-ins has (20).
package test
