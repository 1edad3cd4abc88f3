package redisadapter_test

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
)

// TestNewRefuses what could not work as it says.
func TestNewRefuses(t *testing.T) {
	one, cluster := &redis.Options{}, func(o redis.ClusterOptions) redis.UniversalClient {
		o.Addrs = []string{"127.0.0.1:1"}
		return redis.NewClusterClient(&o)
	}
	for what, c := range map[string]struct {
		client redis.UniversalClient
		o      redisadapter.Options
		says   string
	}{
		"a cluster client that reads from replicas": {cluster(redis.ClusterOptions{ReadOnly: true}), redisadapter.Options{}, "ReadOnly"},
		"one that reads from the nearest":           {cluster(redis.ClusterOptions{RouteByLatency: true}), redisadapter.Options{}, "RouteByLatency"},
		"one that reads from any":                   {cluster(redis.ClusterOptions{RouteRandomly: true}), redisadapter.Options{}, "RouteRandomly"},
		"Auth.js' keys in a cluster":                {cluster(redis.ClusterOptions{}), redisadapter.Options{Layout: redisadapter.AuthJS()}, "Auth.js"},
		"servers that know nothing of each other":   {redis.NewRing(&redis.RingOptions{}), redisadapter.Options{}, "*redis.Ring"},
		"fewer replicas than none":                  {redis.NewClient(one), redisadapter.Options{Replicas: -1}, "Replicas"},
		"no client":                                 {nil, redisadapter.Options{}, "neither"},
	} {
		if _, err := redisadapter.New(c.client, c.o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that names %s", what, err, c.says)
		}
		if c.client != nil {
			_ = c.client.Close()
		}
	}
}
