package interop

import "syscall"

// dieWithParent has the kernel kill a program with the test binary, even one
// that is killed itself.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
