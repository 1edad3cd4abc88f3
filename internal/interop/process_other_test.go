//go:build !linux

package interop

import "syscall"

// dieWithParent: elsewhere the end of its standard input ends a program.
func dieWithParent() *syscall.SysProcAttr { return nil }
