//go:build linux

package realservers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Node is a server of a Galera cluster. Its user "root" has no password.
type Node struct {
	Socket string
	life   *life
}

// Kill ends a node as a power failure does.
func (n Node) Kill() { n.life.running.endBy(syscall.SIGKILL) }

// Rejoin starts a node that was killed, and waits until it has all data of the others.
func (n Node) Rejoin(t testing.TB) {
	t.Helper()
	n.life.running = n.life.start(t)
}

const galeraLibrary = "/usr/lib/galera/libgalera_smm.so"

// portsOfNode is how many ports a node listens on.
const portsOfNode = 4

// Galera starts a cluster of three MariaDB servers, which takes half a minute. The first
// start of the first node makes the cluster. Every other start of a node joins it.
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
	ports := FreePorts(t, 3*portsOfNode)
	cluster := "lk" + strconv.Itoa(ports[0])
	var nodes []Node
	for i := range 3 {
		name := strconv.Itoa(i + 1)
		n := Node{Socket: h.dir + "/s" + name}
		flags := galeraFlags(h.dir, cluster, name, n.Socket, [portsOfNode]int(ports[portsOfNode*i:]))
		makesCluster := i == 0
		n.life = &life{start: func(t testing.TB) *server {
			t.Helper()
			joins := []string{"--wsrep-cluster-address=gcomm://" + galeraPeers(ports, i)}
			if makesCluster {
				joins = []string{"--wsrep-cluster-address=gcomm://", "--wsrep-new-cluster"}
				makesCluster = false
			}
			s := h.serve(t, syscall.SIGTERM, slices.Concat([]string{mariadbd}, flags, joins)...)
			s.await(t, func() error { return synced(client, n.Socket) })
			return s
		}}
		n.Rejoin(t)
		nodes = append(nodes, n)
	}
	return nodes
}

// galeraPeers returns the addresses of the nodes other than i, separated by commas.
func galeraPeers(ports []int, i int) string {
	var list []string
	for j := range 3 {
		if j != i {
			list = append(list, fmt.Sprintf("127.0.0.1:%d", ports[portsOfNode*j]))
		}
	}
	return strings.Join(list, ",")
}

// galeraFlags returns the flags of a node. It leaves the timeouts at their defaults: with
// shorter ones a busy machine loses nodes that are there.
func galeraFlags(dir, cluster, name, socket string, own [portsOfNode]int) []string {
	group, incremental, snapshot, clients := own[0], own[1], own[2], own[3]
	return []string{
		"--no-defaults", "--datadir=" + dir + "/" + name, "--socket=" + socket, "--pid-file=" + dir + "/p" + name,
		"--port=" + strconv.Itoa(clients), "--bind-address=127.0.0.1", "--skip-log-bin", "--binlog-format=ROW", "--innodb-autoinc-lock-mode=2",
		"--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=32M", "--character-set-server=utf8mb4", "--max-connections=200",
		"--wsrep-on=ON", "--wsrep-provider=" + galeraLibrary, "--wsrep-cluster-name=" + cluster, "--wsrep-node-name=n" + name,
		fmt.Sprintf("--wsrep-node-address=127.0.0.1:%d", group), "--wsrep-sst-method=rsync", fmt.Sprintf("--wsrep-sst-receive-address=127.0.0.1:%d", snapshot),
		fmt.Sprintf("--wsrep-provider-options=base_host=127.0.0.1;base_port=%d;gmcast.listen_addr=tcp://127.0.0.1:%d;ist.recv_addr=127.0.0.1:%d;"+
			"gcache.size=16M;evs.keepalive_period=PT0.5S", group, group, incremental),
	}
}

// synced returns an error unless a node has all data of the others.
func synced(client, socket string) error {
	out, err := exec.Command(client, "--no-defaults", "--socket="+socket, "--user=root", "--skip-column-names",
		"-e", "SHOW STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_local_state_comment')").Output()
	if err == nil && (!strings.Contains(string(out), "ON") || !strings.Contains(string(out), "Synced")) {
		err = errors.New("the node is not ready: " + string(out))
	}
	return err
}
