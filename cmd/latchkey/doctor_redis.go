package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/latchkeyhq/latchkey/storage"
)

// checkRedis asks the server of the URL in a variable for its settings, and reports those
// by which sessions or revocations could be lost. It uses INFO, because hosted servers
// answer it where they refuse CONFIG. It then reports under which keys the provider tokens
// there are sealed. tokenKeys are names of variables with the keys.
func (d *doctor) checkRedis(ctx context.Context, variable, rawURL string, tokenKeys []string) {
	u, err := url.Parse(rawURL)
	if err != nil {
		d.fail("redis", "%s is no URL. Write redis://host:6379, rediss:// or unix://", variable)
		return
	}
	o, err := redis.ParseURL(ofServer(*u))
	if err != nil { // it may quote the password
		d.fail("redis", "%s is no URL of Redis. Write redis://host:6379, rediss:// or unix://", variable)
		return
	}
	o.ContextTimeoutEnabled, o.MaxRetries, o.DialerRetries = true, -1, 1
	logging.Disable() // the report says it
	c := redis.NewClient(o)
	defer func() { _ = c.Close() }()
	asked, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	text, err := c.Info(asked).Result()
	if redis.IsPermissionError(err) {
		d.warn("redis", "%s: not checked, since its user may not run INFO. Allow it with ACL SETUSER … +info", o.Addr)
		return
	}
	if err != nil {
		d.fail("redis", "%s: %s", o.Addr, cmp.Or(explainRedis(err, o.TLSConfig != nil), noRedis))
		return
	}
	judgeRedis(d.report, variable, o.Addr, infoOf(text))
	d.checkRedisTokens(ctx, rawURL, tokenKeys)
}

// checkRedisTokens reports how the provider tokens in the Redis of a URL are sealed. names
// are variables with keys. If the user of Redis may not run SCAN, it only warns.
func (d *doctor) checkRedisTokens(ctx context.Context, rawURL string, names []string) {
	s, err := openRedis(rawURL)
	if err != nil {
		d.fail("redis", "%v", err)
		return
	}
	defer s.close()
	store, err := s.store(ctx)
	if err != nil {
		d.fail("redis", "%v", s.failed(err))
		return
	}
	err = store.EachAccount(ctx, func(storage.Account) error { return errTold })
	switch {
	case err == nil: // it has no accounts
	case errors.Is(err, errTold):
		d.checkServiceTokens(ctx, s, names)
	case redis.IsPermissionError(err):
		d.warn("tokens", "%s: not counted, since its user may not run SCAN. If accounts are there, allow it with ACL SETUSER … +scan", s.where)
	default:
		d.fail("tokens", "%v", s.failed(err))
	}
}

// ofServer returns a URL for a client of one server. It leaves out the parameters addr,
// which name further nodes of a cluster: the first node has the settings of all nodes. It
// also leaves out prefix and layout, which only the adapter reads.
func ofServer(u url.URL) string {
	q := u.Query()
	for _, name := range []string{"addr", "prefix", "layout"} {
		q.Del(name)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// noRedis says that no server answers.
const noRedis = "it does not answer. Check the host name, and that this machine may reach it"

// explainRedis returns why a call of Redis has failed, or "" if the connection and the
// server are not the cause. It repeats nothing of err, which may quote the password.
// overTLS says that the URL is one of rediss://.
func explainRedis(err error, overTLS bool) string {
	if text := redisRefusal(err); text != "" {
		return text
	}
	_, uncertified := errors.AsType[*tls.CertificateVerificationError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	network, isNetwork := errors.AsType[net.Error](err)
	switch {
	case uncertified:
		return "its certificate is not accepted. Check the host name, and that this machine trusts the authority"
	case plain:
		return "there is no TLS at this port, which rediss:// demands. Write redis://, or the port that has TLS"
	case overTLS && isNetwork && network.Timeout(): // Redis waits for the rest of what it takes for a command
		return "nobody speaks TLS there in time. If it has none at this port, write redis://"
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return "it ends the connection without a word. If it speaks TLS, write rediss://"
	case isNetwork:
		return noRedis
	}
	return ""
}

// redisRefusal returns what the error answer of a server means, or "" if err is no answer
// of a server. Of the answer it repeats the first word alone.
func redisRefusal(err error) string {
	refused, is := errors.AsType[redis.Error](err)
	if !is {
		return ""
	}
	word, rest, _ := strings.Cut(refused.Error(), " ")
	switch {
	case redis.IsLoadingError(err), redis.IsMasterDownError(err):
		return "it serves nobody yet (" + word + "). Try again when it has its data"
	case redis.IsAuthError(err), word == "ERR" && strings.Contains(strings.ToLower(rest), "password"): // before Redis 6
		return refusedUser + " (" + word + "). Check both in its URL"
	}
	return "it refuses to answer (" + word + ")"
}

// infoOf returns the fields of an answer to INFO by name.
func infoOf(text string) map[string]string {
	info := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	return info
}

// judgeRedis reports the settings of a server by which users, sessions or revocations
// could be lost, or that all is well. info has the fields of INFO, and variable names the
// one with the URL.
func judgeRedis(r *report, variable, addr string, info map[string]string) {
	policy, good := info["maxmemory_policy"], true
	warn := func(format string, args ...any) {
		good = false
		r.warn("redis", "%s: "+format, append([]any{addr}, args...)...)
	}
	switch {
	case strings.HasPrefix(policy, "allkeys-"):
		good = false
		r.fail("redis", "%s: maxmemory-policy is %s, which removes users and revocations when memory is used up. Set noeviction", addr, policy)
	case strings.HasPrefix(policy, "volatile-"):
		warn("maxmemory-policy is %s, which removes sessions and revocations when memory is used up. Set noeviction", policy)
	}
	if info["role"] == "slave" {
		good = false
		r.fail("redis", "%s: it is a replica, and takes no writes. Set %s to the primary, or have the program ask Sentinels", addr, variable)
	}
	if info["aof_enabled"] == "0" {
		warn("what it has is gone with its process. Set appendonly yes")
	}
	if info["connected_slaves"] != "" && info["connected_slaves"] != "0" && info["min_slaves_good_slaves"] == "" {
		warn("it writes on when its replicas are lost. Set min-replicas-to-write 1")
	}
	if good {
		r.ok("redis", "%s: it answers, version %s", addr, info["redis_version"])
	}
}
