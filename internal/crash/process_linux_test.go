package crash

import "syscall"

// dieWithParent has the kernel kill a process with the test binary, even one
// that is killed itself.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
