//go:build linux

package realservers

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// RedisCluster is a Redis Cluster of six: at the start nodes 0 to 2 are
// primaries, and node i+3 is the replica of node i.
type RedisCluster struct {
	Addrs []string
	Nodes []Redis
}

// NewRedisCluster starts an empty cluster. A primary that Lose takes away is
// replaced by its replica when it is gone for a second.
func NewRedisCluster(t testing.TB) RedisCluster {
	t.Helper()
	var c RedisCluster
	p := FreePorts(t, 12)
	for i := range 6 {
		// The bus is at a port of its own: the default, ten thousand higher, need
		// not be a port. With the validity factor and the delay as they come, a
		// replica would not take over in the first seconds.
		c.Nodes = append(c.Nodes, newRedisAt(t, p[i], "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(p[6+i]),
			"--cluster-config-file", "nodes.conf", "--cluster-node-timeout", strconv.Itoa(noticed), "--cluster-replica-validity-factor", "0"))
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
	notice(t, c.Nodes, unnoticed)
	return c
}

// link gives each primary its replica, and waits until every node knows all others.
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

// Lose crashes the primary i and calls meanwhile, unless that is nil. Then it waits until
// every other node knows which replica has taken over.
func (c RedisCluster) Lose(t testing.TB, i int, meanwhile func()) {
	t.Helper()
	_, port, err := net.SplitHostPort(c.Addrs[i])
	if err != nil {
		t.Fatal(err)
	}
	c.Nodes[i].Crash()
	others := slices.Delete(slices.Clone(c.Nodes), i, i+1)
	notice(t, others, noticed)
	if meanwhile != nil {
		meanwhile()
	}
	for _, n := range others {
		n.life.running.await(t, func() error {
			slots, err := n.ask("CLUSTER SLOTS")
			if err == nil && strings.Contains(slots, ":"+port+"\r\n") {
				err = errors.New("the primary that is gone still has slots")
			}
			return err
		})
	}
	notice(t, others, unnoticed)
}

// Milliseconds after which a node that is silent is given up: when one is lost, and
// at all other times, when it only has much to do.
const noticed, unnoticed = 1000, 60_000

// notice has nodes give up a silent node after so many milliseconds.
func notice(t testing.TB, nodes []Redis, after int) {
	t.Helper()
	for _, n := range nodes {
		n.Ask(t, fmt.Sprintf("CONFIG SET cluster-node-timeout %d", after))
	}
}

// Promote has the node replica take the place of its primary, which hands over in good
// order. It returns when replica is the primary, and at once if it is that already.
func (c RedisCluster) Promote(t testing.TB, replica int) {
	t.Helper()
	const givenUp = 6 * time.Second // a node tries for five
	var asked time.Time
	n := c.Nodes[replica]
	n.life.running.await(t, func() error {
		role, err := n.ask("ROLE")
		if err != nil || strings.Contains(role, "master") {
			return err
		}
		if time.Since(asked) > givenUp {
			asked = time.Now()
			_, err = n.ask("CLUSTER FAILOVER")
		}
		return cmp.Or(err, errors.New("it is still a replica"))
	})
}
