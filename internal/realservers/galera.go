//go:build linux

package realservers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Node is a server of a Galera cluster. Its user "root" has no password.
type Node struct {
	Socket string
	life   *postmaster
}

// Kill ends a node as a power failure does.
func (n Node) Kill() { n.life.running.endBy(syscall.SIGKILL) }

// Rejoin starts a node that was killed. It is back when it has what the others
// have; until then it answers that it is not ready.
func (n Node) Rejoin(t testing.TB) {
	t.Helper()
	n.life.running = n.life.start(t)
}

const galeraLibrary = "/usr/lib/galera/libgalera_smm.so"

// Galera starts a cluster of three MariaDB servers, which takes half a minute.
func Galera(t testing.TB) []Node {
	t.Helper()
	install, mariadbd, client := program(t, "mariadb-install-db"), program(t, "mariadbd"), program(t, "mariadb")
	if _, err := os.Stat(galeraLibrary); err != nil {
		isMissing(t, "galera-4")
	}
	program(t, "rsync")
	h := newHome(t, "mysql")
	h.run(t, install, "--no-defaults", "--datadir="+h.dir+"/1", "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
	h.run(t, "cp", "-r", h.dir+"/1", h.dir+"/2")
	h.run(t, "cp", "-r", h.dir+"/1", h.dir+"/3")
	ports := FreePorts(t, 12) // four a node
	var nodes []Node
	for i := range 3 {
		own := ports[4*i:]
		name := strconv.Itoa(i + 1)
		n := Node{Socket: h.dir + "/s" + name}
		argv := append([]string{mariadbd}, galeraFlags(h.dir, name, n.Socket, own, ports[0])...)
		bootstrap := i == 0
		n.life = &postmaster{start: func(t testing.TB) *server {
			t.Helper()
			args := append(argv[:len(argv):len(argv)], "--wsrep-cluster-address=gcomm://"+galeraPeers(ports, i))
			if bootstrap {
				args[len(args)-1] = "--wsrep-cluster-address=gcomm://"
				args = append(args, "--wsrep-new-cluster")
				bootstrap = false
			}
			s := h.serve(t, syscall.SIGTERM, args...)
			s.await(t, func() error { return synced(client, n.Socket) })
			return s
		}}
		n.Rejoin(t)
		nodes = append(nodes, n)
	}
	return nodes
}

// galeraPeers are the other nodes.
func galeraPeers(ports []int, i int) string {
	var list []string
	for j := range 3 {
		if j != i {
			list = append(list, fmt.Sprintf("127.0.0.1:%d", ports[4*j]))
		}
	}
	return strings.Join(list, ",")
}

// galeraFlags leaves the timeouts as they come: with shorter ones a busy machine
// loses nodes that are there.
func galeraFlags(dir, name, socket string, own []int, first int) []string {
	base := own[0]
	return []string{
		"--no-defaults", "--datadir=" + dir + "/" + name, "--socket=" + socket, "--pid-file=" + dir + "/p" + name,
		"--port=" + strconv.Itoa(own[3]), "--bind-address=127.0.0.1", "--skip-log-bin", "--binlog-format=ROW", "--innodb-autoinc-lock-mode=2",
		"--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=32M", "--character-set-server=utf8mb4", "--max-connections=200",
		"--wsrep-on=ON", "--wsrep-provider=" + galeraLibrary, "--wsrep-cluster-name=lk" + strconv.Itoa(first), "--wsrep-node-name=n" + name,
		fmt.Sprintf("--wsrep-node-address=127.0.0.1:%d", base), "--wsrep-sst-method=rsync", fmt.Sprintf("--wsrep-sst-receive-address=127.0.0.1:%d", own[2]),
		fmt.Sprintf("--wsrep-provider-options=base_host=127.0.0.1;base_port=%d;gmcast.listen_addr=tcp://127.0.0.1:%d;ist.recv_addr=127.0.0.1:%d;"+
			"gcache.size=16M;evs.keepalive_period=PT0.5S", base, base, own[1]),
	}
}

// synced says whether a node has what the others have.
func synced(client, socket string) error {
	out, err := exec.Command(client, "--no-defaults", "--socket="+socket, "--user=root", "--skip-column-names",
		"-e", "SHOW STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_local_state_comment')").Output()
	if err == nil && (!strings.Contains(string(out), "ON") || !strings.Contains(string(out), "Synced")) {
		err = errors.New("the node is not ready: " + string(out))
	}
	return err
}
