//go:build linux

package realservers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// GuideHost is the host that the configurations of the deployment guide are for.
const GuideHost = "app.example"

// GuideProxies are the programs whose configurations the deployment guide has.
var GuideProxies = []string{"nginx", "caddy", "haproxy"}

// NewGuideProxy starts the program called name, one of GuideProxies, with the configuration
// that the deployment guide has for it. The proxy passes requests on to the application at
// instance, a host with its port.
func NewGuideProxy(t testing.TB, name, instance string) WebProxy {
	t.Helper()
	guide, adapt := guideConfig(t, name), guideAdaptations[name]
	return NewWebProxy(t, name, GuideHost, func(s WebProxySite) string { return adapt(t, guide, instance, s) })
}

// guideConfig returns the first code block in language of the deployment guide, or fails t.
func guideConfig(t testing.TB, language string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(workspace(t), "docs/deployment.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(string(page))
	if m == nil {
		t.Fatalf("docs/deployment.md has no block in %s", language)
	}
	return m[1]
}

// swap replaces every old in the text in by with. It fails the test if the text has no old.
func swap(t testing.TB, in, old, with string) string {
	t.Helper()
	if !strings.Contains(in, old) {
		t.Fatalf("the guide's configuration does not say %q:\n%s", old, in)
	}
	return strings.ReplaceAll(in, old, with)
}

// guideAdaptations change the guide's configurations, by the name of the program, so that
// they run in a test: with the ports, the certificate and the folder of s, and in front of
// instance.
var guideAdaptations = map[string]func(t testing.TB, guide, instance string, s WebProxySite) string{
	"nginx": func(t testing.TB, guide, instance string, s WebProxySite) string {
		guide = swap(t, guide, "listen 443 ssl;", "listen 127.0.0.1:"+s.Port+" ssl; ssl_certificate "+s.Certificate+"; ssl_certificate_key "+s.Key+";")
		guide = swap(t, guide, "127.0.0.1:3000", instance)
		guide = swap(t, guide, "/var/log/nginx/access.log", s.Dir+"/access.log")
		guide = swap(t, guide, "/var/log/nginx/error.log", s.Dir+"/guide-error.log")
		temporary := ""
		for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
			temporary += kind + "_temp_path " + s.Dir + "/" + kind + ";\n"
		}
		return "pid " + s.Dir + "/pid;\nevents {}\nhttp {\n" + temporary + guide + "}\n"
	},
	"caddy": func(t testing.TB, guide, instance string, s WebProxySite) string {
		guide = swap(t, guide, "app.example {", "app.example {\n\tbind 127.0.0.1\n\ttls "+s.Certificate+" "+s.Key)
		guide = swap(t, guide, "{\n\tlog {", "{\n\tadmin off\n\tauto_https disable_redirects\n\thttps_port "+s.Port+"\n\tstorage file_system "+s.Dir+
			"\n\tlog {\n\t\toutput file "+s.Dir+"/access.log")
		return swap(t, guide, "127.0.0.1:3000", instance)
	},
	"haproxy": func(t testing.TB, guide, instance string, s WebProxySite) string {
		guide = swap(t, guide, "bind :443 ssl crt /etc/haproxy/app.example.pem", "bind 127.0.0.1:"+s.Port+" ssl crt "+s.Both)
		return swap(t, guide, "127.0.0.1:3000", instance)
	},
}
