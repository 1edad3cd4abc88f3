//go:build linux

package realservers

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// claiming makes the test binary claim a port and say whether it could.
const claiming = "LATCHKEY_CLAIM"

// TestPortsOfOthers: while a test has a port, no other one gets it, in another
// process neither, whether a server is there or not.
func TestPortsOfOthers(t *testing.T) {
	if port, err := strconv.Atoi(os.Getenv(claiming)); err == nil {
		t.Logf("claimed: %t", claim(t, port))
		return
	}
	none := 1<<16 + os.Getpid() // no port: nobody else asks for it
	t.Run("a test", func(t *testing.T) {
		claim(t, none)
		for _, port := range []int{none, freePort(t)} {
			if claim(t, port) {
				t.Errorf("the same process gets %d again", port)
			}
			if said := claimElsewhere(t, port); !strings.Contains(said, "claimed: false") {
				t.Errorf("another process says about %d: %s", port, said)
			}
		}
	})
	if said := claimElsewhere(t, none); !strings.Contains(said, "claimed: true") {
		t.Errorf("after the test, another process says %s", said)
	}
}

// claimElsewhere has another process claim a port.
func claimElsewhere(t *testing.T, port int) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPortsOfOthers$", "-test.v")
	c.Env = append(os.Environ(), claiming+"="+strconv.Itoa(port))
	said, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return string(said)
}
