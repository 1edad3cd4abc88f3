package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// siteFlags are those of the probes of a running site.
type siteFlags struct {
	site      string
	health    string
	instances []string
}

// siteNames are what the probes report.
var siteNames = []string{
	"site.dns", "site.tls", "site.routes", "site.cookies", "site.urls", "site.sign-in", "site.headers", "site.sizes", "site.clock", "site.providers",
	"site.health", "site.instances",
}

// Bounds of the probes. A site can be hostile: nothing that it does takes longer, and no
// more of an answer is read.
const (
	siteTime      = 15 * time.Second // all probes
	probeTime     = 4 * time.Second  // one of the three rounds of probes
	mostAnswer    = 1 << 20          // of one answer, in bytes
	mostRedirects = 5                // within the origin of the site
	mostSignIns   = 20               // providers whose sign-in is begun
	mostPrinted   = 80               // of a text of the site, in bytes
)

// siteProbe looks at a running site from outside. It signs no user in, sends no mail and
// prints no cookie. Findings of the first two rounds go into its own report. In the third
// round several probes run at once, and each has a report of its own.
type siteProbe struct {
	*report
	now     func() time.Time
	network *http.Transport
	lookup  func(ctx context.Context, host string) ([]net.IPAddr, error)
	round   time.Duration // that one round of probes may take

	origin, base string
	host         string
	secure       bool
	stamp        stamp // of the first answer
	own          stamp // of the program itself, by a cookie of a sign-in; zero: none was begun
	jar          map[string]string
	csrfToken    string
	found        map[string]siteProvider
}

// siteProvider is a provider as the site lists it.
type siteProvider struct {
	Type        string `json:"type"`
	SignInURL   string `json:"signinUrl"`
	CallbackURL string `json:"callbackUrl"`
}

// newSiteProbe returns the probe of the site at a URL. The path of the URL is the base
// path; without one it is /auth. A URL that is not that of a site is a wrongUsage. The
// other error is that of networkOf.
func newSiteProbe(p *program, r *report, rawURL string) (*siteProbe, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, usage("--site: want the URL of a site, such as https://app.example or https://app.example/api/auth")
	}
	s := &siteProbe{
		report: r, now: p.now, lookup: net.DefaultResolver.LookupIPAddr, round: probeTime,
		origin: u.Scheme + "://" + u.Host, host: u.Host, secure: u.Scheme == "https", base: strings.TrimRight(u.Path, "/"), jar: map[string]string{},
	}
	if s.base == "" {
		s.base = "/auth"
	}
	if s.network, err = networkOf(p.http); err != nil {
		return nil, err
	}
	return s, nil
}

// networkOf returns a copy of the transport of a client, with the bounds of the probes.
// It returns an error if the client's transport is of another type than
// *[http.Transport].
func networkOf(c *http.Client) (*http.Transport, error) {
	given := c.Transport
	if given == nil {
		given = http.DefaultTransport
	}
	t, ok := given.(*http.Transport)
	if !ok {
		return nil, errors.New("the HTTP client has a transport of its own")
	}
	t = t.Clone()
	t.ResponseHeaderTimeout, t.MaxResponseHeaderBytes = probeTime, mostAnswer
	return t, nil
}

// checkSite probes a running site and its instances, and adds the findings to r. The
// error is that of newSiteProbe.
func checkSite(ctx context.Context, p *program, r *report, f siteFlags) error {
	s, err := newSiteProbe(p, r, f.site)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, siteTime)
	defer cancel()
	defer s.network.CloseIdleConnections()
	s.run(ctx, f)
	return nil
}

// run makes the probes in three rounds: whether the site can be reached, whether its
// routes answer, and the rest. It ends after a round that fails.
func (s *siteProbe) run(ctx context.Context, f siteFlags) {
	if !s.inTime(ctx, s.reach) || !s.inTime(ctx, s.routes) {
		return
	}
	rest := []func(ctx context.Context, r *report){s.signInsAndClock, s.forged, s.sizes}
	if f.health != "" {
		rest = append(rest, func(ctx context.Context, r *report) { s.healthAt(ctx, r, f.health) })
	}
	if len(f.instances) > 0 {
		rest = append(rest, func(ctx context.Context, r *report) { s.compare(ctx, r, f.instances) })
	}
	reports := make([]*report, len(rest))
	ctx, cancel := context.WithTimeout(ctx, s.round)
	defer cancel()
	var all sync.WaitGroup
	for i, probe := range rest {
		reports[i] = &report{accept: s.accept, isHeld: true}
		all.Go(func() { probe(ctx, reports[i]) })
	}
	all.Wait()
	for _, r := range reports {
		s.take(r)
	}
}

// inTime calls round with a context that ends after s.round, and returns its result.
func (s *siteProbe) inTime(ctx context.Context, round func(context.Context) bool) bool {
	ctx, cancel := context.WithTimeout(ctx, s.round)
	defer cancel()
	return round(ctx)
}
