package main

import (
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/realservers"
)

// onServers are the stores that the suite drives on servers.
var onServers = []struct {
	store   string
	servers func(t *testing.T) (env []string, afterwards func(*testing.T))
	fails   []string // what cannot hold there
}{
	{"postgres+redis", func(t *testing.T) ([]string, func(*testing.T)) {
		dsn := "postgres://latchkey@/postgres?host=" + url.QueryEscape(realservers.Postgres(t, false).Dir)
		return []string{"POSTGRES=" + dsn, "REDIS=" + strings.Join(realservers.NewRedisCluster(t).Addrs, ",")}, func(*testing.T) {}
	}, nil},
	{
		"mongodb", func(t *testing.T) ([]string, func(*testing.T)) {
			return []string{"MONGODB=" + realservers.MongoDB(t).URL}, func(*testing.T) {}
		},
		[]string{"the user id is a random UUID, not the provider's"},
	}, // it is an ObjectId, with Auth.js too
	{"drizzle", besideDrizzle, nil},
}

// TestOnServers drives the app with users in PostgreSQL and everything else in a
// Redis Cluster (S-026), with MongoDB, and on tables of Drizzle that Auth.js uses at
// the same time. scripts/conformance calls it and says
// where suite and app are; without these there is nothing to drive.
func TestOnServers(t *testing.T) {
	run, app := os.Getenv("LATCHKEY_CONFORMANCE_RUN"), os.Getenv("LATCHKEY_CONFORMANCE_APP")
	if run == "" || app == "" {
		t.Log("make conformance drives it")
		return
	}
	for _, on := range onServers {
		t.Run("S-026 "+on.store, func(t *testing.T) {
			env, afterwards := on.servers(t)
			argv := append([]string{run, "--strict", "env", "STORE=" + on.store}, append(env, app)...)
			out, err := exec.CommandContext(t.Context(), "sh", argv...).CombinedOutput()
			if failed := failuresIn(string(out)); !slices.Equal(failed, on.fails) || err != nil && len(failed) == 0 {
				t.Errorf("%v\n%s", err, out)
			}
			afterwards(t)
			t.Log(strings.TrimSpace(string(out[max(0, len(out)-40):])))
		})
	}
}

var failure = regexp.MustCompile(`(?m)^FAILED .* › (.*)$`)

func failuresIn(out string) (names []string) {
	for _, found := range failure.FindAllStringSubmatch(out, -1) {
		names = append(names, found[1])
	}
	return names
}
