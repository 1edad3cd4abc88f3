//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// TestDoctorBehindProxies asks a site behind nginx, Caddy and HAProxy as the deployment
// guide has them. Everything is well, but for a certificate that ends tomorrow. Where the
// URL of the site is left out, its proxy says what the site has to know (O-065, O-077).
func TestDoctorBehindProxies(t *testing.T) {
	for _, name := range realservers.GuideProxies {
		t.Run("O-065 "+name, func(t *testing.T) {
			s := &runningSite{t: t, config: latchkey.Config{Site: latchkey.Site{URL: "https://" + realservers.GuideHost}}}
			s.issuer = latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) { c.Algorithm = "ES256" })
			instance := httptest.NewServer(s.newSite())
			t.Cleanup(instance.Close)
			proxy := realservers.NewGuideProxy(t, name, strings.TrimPrefix(instance.URL, "http://"))
			network := &http.Transport{
				TLSClientConfig: &tls.Config{RootCAs: proxy.CA},
				DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
					if address == realservers.GuideHost+":443" || address == "127.0.0.1:443" {
						address = proxy.Addr
					}
					return new(net.Dialer).DialContext(ctx, network, address)
				},
			}
			var out bytes.Buffer
			r := &report{out: &out}
			probe, err := newSiteProbe(&program{now: time.Now, http: &http.Client{Transport: network}}, r, "https://"+realservers.GuideHost)
			if err != nil {
				t.Fatal(err)
			}
			probe.lookup = func(context.Context, string) ([]net.IPAddr, error) {
				return []net.IPAddr{{IP: net.IPv4(127, 0, 0, 1)}}, nil
			}
			probe.run(t.Context(), siteFlags{})
			for line := range strings.Lines(out.String()) {
				if !strings.HasPrefix(line, "OK") && !strings.HasPrefix(line, "WARN  site.tls: the certificate ends") { // a test's certificate is short-lived
					t.Error(line)
				}
			}
			if !strings.Contains(out.String(), "OK    site.sign-in") || !strings.Contains(out.String(), "OK    site.sizes") {
				t.Errorf("%s", out.String())
			}
			s.harmless(out.String())
		})
	}
}
