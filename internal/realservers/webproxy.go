//go:build linux

package realservers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// WebProxy is a running nginx, Caddy or HAProxy, which terminates TLS for one host.
type WebProxy struct {
	Addr string         // where it listens, on loopback
	CA   *x509.CertPool // vouches for the certificate of its host
	dir  string
}

// WebProxySite has the values that a configuration of a WebProxy must name.
type WebProxySite struct {
	Port             string // the port to listen on, at 127.0.0.1
	Certificate, Key string // files
	Both             string // a file with the certificate and the key
	Dir              string // a folder for logs and temporary files
}

// NewWebProxy starts the program called name: nginx, caddy or haproxy. configure returns
// its configuration, which must make it listen with TLS as host.
func NewWebProxy(t testing.TB, name, host string, configure func(WebProxySite) string) WebProxy {
	t.Helper()
	path := program(t, name)
	h := newHome(t, "nobody")
	port := freePort(t)
	certificate, key, pool := certify(t, host)
	for file, text := range map[string]string{"cert.pem": certificate, "key.pem": key, "both.pem": certificate + key} {
		h.write(t, file, text)
	}
	h.write(t, "config", configure(WebProxySite{
		Port: strconv.Itoa(port), Certificate: h.dir + "/cert.pem", Key: h.dir + "/key.pem", Both: h.dir + "/both.pem", Dir: h.dir,
	}))
	argv := map[string][]string{
		"nginx":   {path, "-e", "stderr", "-p", h.dir, "-c", h.dir + "/config", "-g", "daemon off;"},
		"caddy":   {path, "run", "--adapter", "caddyfile", "--config", h.dir + "/config"},
		"haproxy": {path, "-db", "-f", h.dir + "/config"},
	}[name]
	s := h.serve(t, syscall.SIGTERM, argv...)
	s.await(t, func() error {
		c, err := tls.DialWithDialer(&net.Dialer{Timeout: time.Second}, "tcp", local(port), &tls.Config{RootCAs: pool, ServerName: host})
		if err == nil {
			err = c.Close()
		}
		return err
	})
	return WebProxy{Addr: local(port), CA: pool, dir: h.dir}
}

// Log returns what the program wrote into access.log so far.
func (p WebProxy) Log(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, "access.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// certify returns a new certificate for a host and its key, both in PEM, and a pool that
// trusts that certificate.
func certify(t testing.TB, host string) (certificate, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(signed)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded})), pool
}
