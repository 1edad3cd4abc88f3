package main

import (
	"context"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// The doctor asks the house itself what it would refuse, so that both are
// always of one mind.

// sound is a configuration without a fault. A check puts into it what it asks about.
func sound() latchkey.Config {
	return latchkey.Config{
		Secrets: []string{newSecret()}, Site: latchkey.Site{
			URL: "https://app.example", BasePath: "/auth",
			RedirectProxyURL: "https://app.example/auth",
		},
	}
}

// judge is what the house says to a configuration.
func judge(c latchkey.Config) (warned bool, err error) {
	var heard ear
	c.Runtime.Logger = slog.New(&heard)
	_, err = latchkey.New(c)
	return heard.warned, err
}

// ear is a log handler that notices warnings.
type ear struct{ warned bool }

// Enabled implements slog.Handler.
func (*ear) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

// Handle implements slog.Handler.
func (e *ear) Handle(context.Context, slog.Record) error {
	e.warned = true
	return nil
}

// WithAttrs implements slog.Handler.
func (e *ear) WithAttrs([]slog.Attr) slog.Handler { return e }

// WithGroup implements slog.Handler.
func (e *ear) WithGroup(string) slog.Handler { return e }

// isPlain tells addresses whose traffic others can read on its way.
func isPlain(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return false
	}
	host := strings.ToLower(u.Hostname())
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err != nil || !ip.IsLoopback()
}

// printable is an address without what does not belong on a screen.
func printable(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(not readable)"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
