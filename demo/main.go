// Command demo is a small site that shows what Latchkey does: a public page, a
// page for members, a profile, and every way to sign in, with nothing to set
// up.
//
//	go run ./demo
//
// An OpenID Provider with a few people runs beside the site, and all mails arrive in a
// mailbox that is one of its pages: magic links, sign-ups and resets of passwords,
// invitations. Users add an authenticator app on the account page, and one page asks for
// a recent proof. The data is in an SQLite file. The site listens on the loopback
// interface only, because anybody who reaches it can read that mailbox.
//
// What the environment can change:
//
//	PORT              where to listen; unset: 3000, or the next port that is free
//	DEMO_DATA         the folder for database, secret and mails; unset: in the user's cache folder
//	SESSION_STRATEGY  jwt keeps sessions in the cookie instead of the database
//	AUTH_SECRET       seals cookies; unset: made once and kept in the data folder
//	AUTH_URL          the URL of the site behind a proxy; unset: localhost
//	AUTH_GITHUB_ID    with AUTH_GITHUB_SECRET adds GitHub
//	AUTH_GOOGLE_ID    with AUTH_GOOGLE_SECRET adds Google
//	AUTH_DEMO_ISSUER  an OpenID Provider that runs already, instead of one's own
//
// Several demos may share a data folder and an AUTH_DEMO_ISSUER, and stand behind
// one load balancer. examples/instances shows that with PostgreSQL, MySQL and
// Redis.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // so that a second Ctrl+C ends a stop that hangs
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run serves the demo until ctx ends, and then lets requests under way finish.
func run(ctx context.Context, out io.Writer) (err error) {
	s, err := readSettings(os.Getenv)
	if err != nil {
		return err
	}
	warnUnused(s.log, os.Getenv)
	listener, err := listen(s.port)
	if err != nil {
		return err
	}
	if os.Getenv("AUTH_URL") == "" && os.Getenv("NEXTAUTH_URL") == "" {
		s.url = originAt(listener)
	}
	site, err := newSite(ctx, s)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, site.Close()) }()
	announce(out, listener, site)
	server := &http.Server{Handler: site, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn)}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return server.Shutdown(patience)
}

// warnUnused logs the variables of a deployment that the demo does not read.
func warnUnused(log *slog.Logger, getenv func(string) string) {
	for _, name := range []string{"DATABASE_URL", "REDIS_URL"} {
		if getenv(name) != "" {
			log.Warn("the demo keeps its data in SQLite and does not read " + name + ": examples/instances does")
		}
	}
}

const (
	firstPort = 3000
	tries     = 50
)

// listen listens on port, and returns an error if that is taken. For an empty port it takes
// the first free one of the ports 3000 to 3049.
func listen(port string) (net.Listener, error) {
	if port != "" {
		return net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	}
	var err error
	for p := firstPort; p < firstPort+tries; p++ {
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p))); err == nil {
			return l, nil
		}
	}
	return nil, err
}

// originAt is the origin of a site that listens there.
func originAt(l net.Listener) string {
	return "http://localhost:" + strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// announce says where to go. The first URL it prints is the site's.
func announce(out io.Writer, l net.Listener, s *site) {
	origin := originAt(l)
	fmt.Fprintf(out, "\n  The demo of Latchkey is at %s\n\n", origin)
	for _, line := range [][2]string{
		{"Password", aliceName + " / " + alicePassword},
		{"Magic links", origin + "/mailbox"},
		{"Identity provider", s.issuer},
		{"Sessions", s.sessions()},
		{"Data", s.data},
	} {
		fmt.Fprintf(out, "  %-19s%s\n", line[0], line[1])
	}
	fmt.Fprint(out, "\n  Ctrl+C stops it.\n\n")
}
