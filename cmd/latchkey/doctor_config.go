package main

import (
	"context"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// The doctor asks the library itself what it would refuse, so that both always
// agree.

// validConfig returns a configuration without a fault, with a fresh secret and a made-up
// site and provider. A check replaces the field that it asks about.
func validConfig() latchkey.Config {
	return latchkey.Config{
		Secrets: []string{newSecret()}, Site: latchkey.Site{
			URL: "https://app.example", BasePath: "/auth",
			RedirectProxyURL: "https://app.example/auth",
		},
		Providers: []latchkey.Provider{&latchkey.OAuth{
			ID: "some", OIDC: true, Issuer: "https://id.example", ClientID: "id", ClientSecret: "secret",
		}},
	}
}

// tryConfig returns the error of latchkey.New for a configuration, and whether it has
// logged a warning.
func tryConfig(c latchkey.Config) (warned bool, err error) {
	var heard warningHandler
	c.Runtime.Logger = slog.New(&heard)
	_, err = latchkey.New(c)
	return heard.warned, err
}

// warningHandler is a log handler that notices warnings.
type warningHandler struct{ warned bool }

// Enabled implements slog.Handler.
func (*warningHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

// Handle implements slog.Handler.
func (e *warningHandler) Handle(context.Context, slog.Record) error {
	e.warned = true
	return nil
}

// WithAttrs implements slog.Handler.
func (e *warningHandler) WithAttrs([]slog.Attr) slog.Handler { return e }

// WithGroup implements slog.Handler.
func (e *warningHandler) WithGroup(string) slog.Handler { return e }

// isPlainHTTP reports whether a URL is http and leads to another machine than this one,
// so that others can read the traffic.
func isPlainHTTP(rawURL string) bool {
	u, err := url.Parse(rawURL)
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

// printable returns a URL without user, password, query and fragment, or "(not readable)"
// if it is malformed.
func printable(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "(not readable)"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
