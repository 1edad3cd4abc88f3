package main

import (
	"bytes"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/realservers"
)

// redisLines are what the doctor says of a server.
func redisLines(t *testing.T, redisURL string) string {
	t.Helper()
	var out bytes.Buffer
	run(t.Context(), []string{"doctor"}, nil, &out, &out, []string{"REDIS_URL=" + redisURL})
	if strings.Contains(out.String(), "hunter2") {
		t.Errorf("the password is told: %s", &out)
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, "redis: ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

func TestDoctorOnRedis(t *testing.T) {
	primary := realservers.NewRedisPrimary(t)
	primaryURL := "redis://:hunter2@" + primary.Addr + "?addr=127.0.0.1:1"
	for _, step := range []struct{ settings, level, says string }{
		{"CONFIG SET appendonly yes", "OK", "it answers, version "},
		{"CONFIG SET requirepass another", "FAIL", "it refuses the user or the password (WRONGPASS)"},
	} {
		primary.Ask(t, step.settings)
		if said := redisLines(t, primaryURL); !strings.HasPrefix(said, step.level) || !strings.Contains(said, step.says) {
			t.Errorf("after %s: %q, want %s, %s", step.settings, said, step.level, step.says)
		}
	}
}

// TestDoctorOnRefusals: what keeps the doctor from an answer has a cure each.
func TestDoctorOnRefusals(t *testing.T) {
	server := realservers.NewRedisPrimary(t)
	server.Ask(t, "ACL SETUSER clerk on >hunter2 ~* +@all -info")
	unknown := httptest.NewUnstartedServer(nil)
	unknown.Config.ErrorLog = log.New(io.Discard, "", 0)
	unknown.StartTLS()
	t.Cleanup(unknown.Close)
	httpServer := httptest.NewServer(nil)
	t.Cleanup(httpServer.Close)
	for _, r := range []struct{ about, redisURL, says string }{
		{"nobody of this name", "redis://nobody:hunter2@" + server.Addr, "it refuses the user or the password (WRONGPASS)"},
		{"a user without INFO", "redis://clerk:hunter2@" + server.Addr, "WARN  redis: " + server.Addr + ": not checked"},
		{"TLS where there is none", "rediss://" + server.Addr, "nobody speaks TLS there in time"},
		{"TLS where something else is", "rediss://" + strings.TrimPrefix(httpServer.URL, "http://"), "there is no TLS at this port"},
		{"no TLS where it is demanded", "redis://" + hangsUp(t), "write rediss://"},
		{"an unknown authority", "rediss://" + unknown.Listener.Addr().String(), "its certificate is not accepted"},
	} {
		if said := redisLines(t, r.redisURL); strings.HasPrefix(said, "OK") || !strings.Contains(said, r.says) {
			t.Errorf("%s: %q, want %s", r.about, said, r.says)
		}
	}
}

// hangsUp is where whoever speaks first is left, as by Redis with TLS when a client
// begins without.
func hangsUp(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 1024))
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

func TestDoctorOnRedisSettings(t *testing.T) {
	server := realservers.NewRedisPrimary(t)
	redisURL := "redis://" + server.Addr
	wants := func(what string, texts ...string) {
		t.Helper()
		said := redisLines(t, redisURL)
		if strings.Count(said, "\n") != len(texts) {
			t.Errorf("%s: %q, want %d lines", what, said, len(texts))
		}
		for _, text := range texts {
			if !strings.Contains(said, text) {
				t.Errorf("%s: %q, want %s", what, said, text)
			}
		}
	}
	const inMemory = "Set appendonly yes"
	wants("as it comes", inMemory)
	server.Ask(t, "CONFIG SET maxmemory-policy allkeys-lru")
	wants("evicting everything", "FAIL  redis: "+server.Addr+": maxmemory-policy is allkeys-lru", inMemory)
	server.Ask(t, "CONFIG SET maxmemory-policy volatile-ttl")
	wants("evicting what expires", "WARN  redis: "+server.Addr+": maxmemory-policy is volatile-ttl", inMemory)
	server.Ask(t, "CONFIG SET maxmemory-policy noeviction")
	replica := realservers.NewRedisReplica(t, server)
	wants("with a replica", inMemory, "Set min-replicas-to-write 1")
	server.Ask(t, "CONFIG SET min-replicas-to-write 1")
	wants("with a replica that it needs", inMemory)
	redisURL = "redis://" + replica.Addr
	wants("R-834 a replica", inMemory, "FAIL  redis: "+replica.Addr+": it is a replica")
	server.Crash()
	redisURL = "redis://" + server.Addr
	wants("nobody", "FAIL  redis: "+server.Addr+": it does not answer")
	redisURL = "mysql://root:hunter2@[nobody"
	wants("no URL", "FAIL  redis: REDIS_URL is no URL")
	redisURL = "mysql://root:hunter2@nobody"
	wants("another URL", "FAIL  redis: REDIS_URL is no URL of Redis")
}
