package redisadapter_test

import (
	"log"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
)

func Example() {
	client := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs:                      []string{"redis-1:6379", "redis-2:6379", "redis-3:6379"},
		ContextTimeoutEnabled:      true,
		ClusterStateReloadInterval: time.Second, // find the new primary soon
		MaxRedirects:               8,
		DialerRetries:              1,
		DialTimeout:                500 * time.Millisecond,
	})
	store, err := redisadapter.New(client, redisadapter.Options{Replicas: 1})
	if err != nil {
		log.Fatal(err)
	}
	_ = store // latchkey.Config{Adapter: store, …}, or any of its roles beside another adapter
}
