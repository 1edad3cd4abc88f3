package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// settings has what the environment says beside what Latchkey reads itself.
type settings struct {
	databaseURL        string
	proxies            []netip.Prefix
	listen, operations string // host:port
	drain              time.Duration
}

// settingsFrom reads settings. An error names the variable. It repeats no DATABASE_URL,
// which may hold a password.
func settingsFrom(getenv func(string) string) (s settings, err error) {
	s = settings{
		databaseURL: getenv("DATABASE_URL"),
		listen:      cmp.Or(getenv("LISTEN"), "localhost:3000"),
		operations:  cmp.Or(getenv("LISTEN_OPERATIONS"), "localhost:3001"),
	}
	if s.databaseURL == "" {
		return s, errors.New("DATABASE_URL is not set: want postgres://user:password@host/database")
	}
	for text := range strings.SplitSeq(getenv("TRUSTED_PROXIES"), ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return s, fmt.Errorf("TRUSTED_PROXIES: %q is no network: want 10.0.0.0/8,fd00::/8", text)
		}
		s.proxies = append(s.proxies, network)
	}
	if s.drain, err = time.ParseDuration(cmp.Or(getenv("DRAIN"), "5s")); err != nil || s.drain < 0 {
		return s, errors.New("DRAIN is no time: want 5s")
	}
	return s, nil
}
