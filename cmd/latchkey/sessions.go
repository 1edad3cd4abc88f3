package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// aboutSessions tells what --sessions is for.
const aboutSessions = `It knows the database, and the store that --sessions names: give it where the site has a
Session.Store or a Session.Revocations of its own. Sessions elsewhere go on. The URL is one of

  redis://user:password@host:6379     also rediss:// and unix://; ?addr=host:port for each further
                                      node of a cluster, ?prefix= and ?layout=authjs or unstorage
                                      where the site sets Options.Prefix and Layout
  mongodb://…, dynamodb://…, nats://… as for migrate`

var (
	errSessionsURL = errors.New("--sessions: the URL cannot be read: want redis://…, mongodb://…, dynamodb://… or nats://… (see --help)")
	errSessionsSQL = errors.New("--sessions: SQL keeps sessions in the database of the users: leave it out, or name redis://…, mongodb://…, dynamodb://… or nats://…")
)

// errRedisURL quotes nothing: the URL may hold a password anywhere.
var errRedisURL = errors.New("the URL of Redis cannot be read: want redis://host:6379, rediss:// or unix://")

// sessionStore keeps sessions beside the database: as the Session.Store of a site with
// stored sessions, or as the Session.Revocations of one with JWT sessions.
type sessionStore interface {
	storage.SessionStore
	storage.RevocationStore
}

// openSessions opens the store of the flag --sessions or, if that is empty, of
// SESSIONS_URL, and asks it for a session that nobody has. It returns nil, nil if neither
// is set. A URL that is malformed or of another kind is a wrongUsage. Other errors name
// the store, and say why it does not answer. The caller closes the service.
func openSessions(ctx context.Context, p *program, flag string) (*service, error) {
	rawURL := cmp.Or(flag, p.env.get("SESSIONS_URL"))
	if rawURL == "" {
		return nil, nil
	}
	s, err := sessionService(ctx, p, rawURL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if s.apart, err = s.store(ctx); err == nil {
		_, err = s.apart.GetSession(ctx, "latchkey-probe")
	}
	if err == nil || errors.Is(err, storage.ErrNotFound) {
		return s, nil
	}
	s.close()
	return nil, fmt.Errorf("%w. Nothing was changed", s.failed(err))
}

// sessionsOfSite calls openSessions. If a store is set, it first returns errWantSecret or
// errWantURL unless the environment has a secret and the URL of the site.
func sessionsOfSite(ctx context.Context, p *program, flag string) (*service, error) {
	env := (latchkey.Config{}).WithEnv(p.env.get)
	switch isSet := cmp.Or(flag, p.env.get("SESSIONS_URL")) != ""; {
	case isSet && len(env.Secrets) == 0:
		return nil, errWantSecret
	case isSet && env.Site.URL == "":
		return nil, errWantURL
	}
	return openSessions(ctx, p, flag)
}

// sessionService returns the service of a URL of --sessions. It connects at once only to NATS.
func sessionService(ctx context.Context, p *program, rawURL string) (*service, error) {
	scheme, _, _ := strings.Cut(rawURL, ":")
	switch strings.ToLower(scheme) {
	case "redis", "rediss", "unix":
		s, err := openRedis(rawURL)
		if errors.Is(err, errRedisURL) {
			return nil, usage("%w", errSessionsURL)
		}
		if err != nil {
			return nil, fmt.Errorf("--sessions: %w", err)
		}
		return s, nil
	case "postgres", "postgresql", "mysql", "mariadb", "sqlite", "file":
		return nil, usage("%w", errSessionsSQL)
	}
	s, err := p.openService(ctx, rawURL)
	switch {
	case err == nil && s == nil, errors.Is(err, errDatabaseURL):
		return nil, usage("%w", errSessionsURL)
	case err != nil:
		return nil, fmt.Errorf("--sessions: %w", err)
	}
	return s, nil
}

// openRedis returns the service of a URL of Redis. The parameters prefix and layout are
// those of redisadapter.Options, and each addr is a further node of a cluster. A malformed
// URL is a wrongUsage. The client connects at the first call.
func openRedis(rawURL string) (*service, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, usage("%w", errRedisURL)
	}
	q := u.Query()
	o := redisadapter.Options{Prefix: q.Get("prefix")}
	switch q.Get("layout") {
	case "":
	case "authjs":
		o.Layout = redisadapter.AuthJS()
	case "unstorage":
		o.Layout = redisadapter.Unstorage()
	default:
		return nil, usage("layout is authjs, unstorage or nothing")
	}
	q.Del("prefix")
	q.Del("layout")
	u.RawQuery = q.Encode()
	client, err := redisClient(u)
	if err != nil { // it may quote the password
		return nil, usage("%w", errRedisURL)
	}
	logging.Disable() // the command says it
	return &service{
		where:   "Redis at " + cmp.Or(u.Host, u.Path),
		store:   func(context.Context) (serviceStore, error) { return redisadapter.New(client, o) },
		explain: func(err error) string { return explainRedis(err, u.Scheme == "rediss") },
		close:   func() { _ = client.Close() },
	}, nil
}

// redisClient returns a client of one server or, if the URL has parameters addr, of a
// cluster.
func redisClient(u *url.URL) (redis.UniversalClient, error) {
	if u.Query().Has("addr") {
		o, err := redis.ParseClusterURL(u.String())
		if err != nil {
			return nil, err
		}
		o.ContextTimeoutEnabled, o.DialerRetries = true, 1
		return redis.NewClusterClient(o), nil
	}
	o, err := redis.ParseURL(u.String())
	if err != nil {
		return nil, err
	}
	o.ContextTimeoutEnabled, o.DialerRetries = true, 1
	return redis.NewClient(o), nil
}

// with returns c with s as the store of its sessions, beside its Adapter. s may be nil.
func (s *service) with(c *latchkey.Config) latchkey.Config {
	site := *c
	if s != nil {
		site.Session.Store, site.Session.AdapterToo, site.Session.Revocations = s.apart, true, s.apart
	}
	return site
}

// revoke ends the JWT sessions of a user by a revocation in s. Commands that end stored
// sessions call it, too: they cannot know which kind the site has. It does nothing if s is
// nil. ctx has the tenant, and tenant is its name or "". After an error the sessions go on.
func (s *service) revoke(ctx context.Context, c *latchkey.Config, tenant, userID string) error {
	if s == nil {
		return nil
	}
	site := *c
	site.Session = latchkey.SessionConfig{Strategy: latchkey.JWTSessions, Revocations: s.apart}
	auth, err := siteOf(&site, tenant)
	if err == nil {
		err = auth.Users().EndSessions(ctx, userID)
	}
	if err != nil {
		return fmt.Errorf("JWT sessions whose end is kept there go on: %w. Run the command again", s.failed(err))
	}
	return nil
}

// also returns ", also in" with the name of s, or nothing if s is nil.
func (s *service) also() string {
	if s == nil {
		return ""
	}
	return ", also in " + s.where
}
