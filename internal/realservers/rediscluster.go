//go:build linux

package realservers

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
)

// RedisCluster is a Redis Cluster of six: at the start nodes 0 to 2 are
// primaries, and node i+3 is the replica of node i.
type RedisCluster struct {
	Addrs []string
	Nodes []Redis
}

// NewRedisCluster starts an empty cluster. A primary that is gone for a second
// is replaced by its replica.
func NewRedisCluster(t testing.TB) RedisCluster {
	t.Helper()
	var c RedisCluster
	p := freePorts(t, 12)
	for i := range 6 {
		// The bus is at a port of its own: the default, ten thousand higher, need
		// not be a port. With the validity factor and the delay as they come, a
		// replica would not take over in the first seconds.
		c.Nodes = append(c.Nodes, newRedisAt(t, p[i], "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(p[6+i]),
			"--cluster-config-file", "nodes.conf", "--cluster-node-timeout", "1000", "--cluster-replica-validity-factor", "0"))
		c.Addrs = append(c.Addrs, c.Nodes[i].Addr)
		c.Nodes[i].Ask(t, fmt.Sprintf("CLUSTER SET-CONFIG-EPOCH %d", i+1))
	}
	for i, slots := range []string{"0 5460", "5461 10922", "10923 16383"} {
		c.Nodes[i].Ask(t, "CLUSTER ADDSLOTSRANGE "+slots)
	}
	for i := 1; i < 6; i++ {
		c.Nodes[0].Ask(t, fmt.Sprintf("CLUSTER MEET 127.0.0.1 %d %d", p[i], p[6+i]))
	}
	c.link(t)
	return c
}

// link gives each primary its replica, and waits until all know of all.
func (c RedisCluster) link(t testing.TB) {
	t.Helper()
	for i := 3; i < 6; i++ {
		id := strings.Fields(c.Nodes[i-3].Ask(t, "CLUSTER MYID"))[1]
		c.Nodes[i].life.running.await(t, func() error {
			_, err := c.Nodes[i].ask("CLUSTER REPLICATE " + id)
			return err
		})
	}
	for i, n := range c.Nodes {
		n.says(t, "CLUSTER INFO", "cluster_state:ok", "cluster_known_nodes:6")
		if i >= 3 {
			n.awaitLink(t)
		}
	}
}

// Lose crashes a primary and calls meanwhile, if there is any; then it waits
// until every other node knows who took over.
func (c RedisCluster) Lose(t testing.TB, i int, meanwhile func()) {
	t.Helper()
	_, port, err := net.SplitHostPort(c.Addrs[i])
	if err != nil {
		t.Fatal(err)
	}
	c.Nodes[i].Crash()
	if meanwhile != nil {
		meanwhile()
	}
	for j, n := range c.Nodes {
		if j == i {
			continue
		}
		n.life.running.await(t, func() error {
			slots, err := n.ask("CLUSTER SLOTS")
			if err == nil && strings.Contains(slots, ":"+port+"\r\n") {
				err = errors.New("the primary that is gone still has slots")
			}
			return err
		})
	}
}
