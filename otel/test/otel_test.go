package test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	latchkeyotel "github.com/latchkeyhq/latchkey/otel"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// site is a site whose spans and metrics are read.
type site struct {
	t      *testing.T
	issuer *latchkeytest.Issuer
	spans  *tracetest.SpanRecorder
	reader *metric.ManualReader
	server *httptest.Server
	client *latchkeytest.Client
	tracer telemetry.Tracer
}

func newSite(t *testing.T, change ...func(*latchkeyotel.Options)) *site {
	t.Helper()
	s := &site{t: t, issuer: latchkeytest.NewIssuer(t), spans: tracetest.NewSpanRecorder(), reader: metric.NewManualReader()}
	o := latchkeyotel.Options{
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(s.spans)),
		MeterProvider:  metric.NewMeterProvider(metric.WithReader(s.reader)),
		Propagator:     propagation.TraceContext{},
	}
	for _, f := range change {
		f(&o)
	}
	var err error
	if s.tracer, err = latchkeyotel.New(o); err != nil {
		t.Fatal(err)
	}
	s.server = httptest.NewUnstartedServer(nil)
	url := "http://" + s.server.Listener.Addr().String()
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{URL: url}, Secrets: []string{"a secret that is long enough for it"}, Adapter: memoryadapter.New(memoryadapter.Options{}),
		Runtime:    latchkey.Runtime{Logger: discard},
		Operations: latchkey.Operations{Tracer: s.tracer},
		Providers: []latchkey.Provider{s.issuer.Provider(), &latchkey.Credentials{
			ID: "crew", Fields: []latchkey.Field{{Name: "name"}, {Name: "password", Type: "password"}},
			Authorize: func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) {
				return latchkey.User{}, nil
			},
		}},
		Session:   latchkey.SessionConfig{Strategy: latchkey.JWTSessions},
		Callbacks: latchkey.Callbacks{SignIn: func(context.Context, latchkey.SignInAttempt) error { return nil }},
		Events:    latchkey.Events{CreateUser: func(context.Context, latchkey.User) error { return nil }},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.server.Config.Handler = auth
	s.server.Start()
	t.Cleanup(s.server.Close)
	s.client = latchkeytest.NewClientAt(t, s.server.URL)
	return s
}

// metrics returns what was collected, by name.
func (s *site) metrics() map[string]metricdata.Metrics {
	s.t.Helper()
	var all metricdata.ResourceMetrics
	if err := s.reader.Collect(context.Background(), &all); err != nil {
		s.t.Fatal(err)
	}
	found := map[string]metricdata.Metrics{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			found[m.Name] = m
		}
	}
	return found
}

// sets returns the attribute sets of a metric.
func sets(m metricdata.Metrics) (list []attribute.Set) {
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			list = append(list, p.Attributes)
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			list = append(list, p.Attributes)
		}
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			list = append(list, p.Attributes)
		}
	}
	return list
}

// named returns the spans of a name.
func (s *site) named(name string) (list []sdktrace.ReadOnlySpan) {
	for _, span := range s.spans.Ended() {
		if span.Name() == name {
			list = append(list, span)
		}
	}
	return list
}

func value(span sdktrace.ReadOnlySpan, key attribute.Key) string {
	for _, a := range span.Attributes() {
		if a.Key == key {
			return a.Value.String()
		}
	}
	return ""
}

// O-008: an OIDC sign-in, and what belongs below its callback.
func TestSpansOfASignIn(t *testing.T) {
	s := newSite(t)
	s.client.SignIn(s.issuer)
	callbacks := s.named("GET /auth/callback/{provider}")
	if len(callbacks) != 1 {
		t.Fatalf("O-008: %d callbacks", len(callbacks))
	}
	callback := callbacks[0]
	if callback.SpanKind() != trace.SpanKindServer || callback.Status().Code != codes.Unset || value(callback, "latchkey.outcome") != "success" || value(callback, "latchkey.provider") != "issuer" {
		t.Errorf("O-008: %v %v %v", callback.SpanKind(), callback.Status(), callback.Attributes())
	}
	if got := value(callback, "latchkey.decisions"); !strings.Contains(got, "state=ok") {
		t.Errorf("O-008: decisions %s", got)
	}
	below := map[string]bool{}
	for _, span := range s.spans.Ended() {
		if span.Parent().SpanID() == callback.SpanContext().SpanID() {
			below[span.Name()] = true
		}
	}
	for _, want := range []string{"POST /token", "callback SignIn", "event createUser", "InTx"} {
		if !below[want] {
			t.Errorf("O-008: no %q below the callback: %v", want, below)
		}
	}
	for _, span := range s.spans.Ended() {
		if url := value(span, "url.full"); strings.ContainsAny(url, "?#@") {
			t.Errorf("O-010: %s has url.full %s", span.Name(), url)
		}
		if value(span, "user.id")+value(span, "user.hash") != "" {
			t.Errorf("O-015: %s names a user", span.Name())
		}
	}
}

// O-009: the trace context of the caller.
func TestCallersContext(t *testing.T) {
	const trace1, span1 = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for _, c := range []struct {
		name, header string
		public       bool
		parent, link bool
	}{
		{"sent", "00-" + trace1 + "-" + span1 + "-01", false, true, false},
		{"malformed", "00-zz-yy-01", false, false, false},
		{"public endpoint", "00-" + trace1 + "-" + span1 + "-01", true, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, func(o *latchkeyotel.Options) { o.PublicEndpoint = c.public })
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.server.URL+"/auth/csrf", nil)
			r.Header.Set("Traceparent", c.header)
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			span := s.named("GET /auth/csrf")[0]
			if got := span.Parent().SpanID().String() == span1; got != c.parent {
				t.Errorf("O-009: parent %v", span.Parent())
			}
			if got := len(span.Links()) == 1; got != c.link || got && span.SpanContext().TraceID().String() == trace1 {
				t.Errorf("O-009: links %v", span.Links())
			}
		})
	}
}

// O-008: below a span of the program a request is INTERNAL.
func TestLocalParent(t *testing.T) {
	s := newSite(t)
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(s.spans))
	ctx, parent := provider.Tracer("program").Start(t.Context(), "outer")
	_, span := s.tracer.Begin(ctx, telemetry.Operation{Kind: telemetry.OpRequest, Name: "GET /auth/csrf", Carrier: http.Header{"Traceparent": {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}})
	span.End(telemetry.OperationResult{Status: 200})
	parent.End()
	inner := s.named("GET /auth/csrf")[0]
	if inner.SpanKind() != trace.SpanKindInternal || inner.Parent().SpanID() != parent.SpanContext().SpanID() {
		t.Errorf("O-008: %v below %v", inner.SpanKind(), inner.Parent())
	}
}

// O-010: no header of a trace reaches a provider unless Propagate says so.
func TestPropagate(t *testing.T) {
	for _, sends := range []bool{false, true} {
		s := newSite(t, func(o *latchkeyotel.Options) {
			if sends {
				o.Propagate = func(host string) bool { return host == "127.0.0.1" }
			}
		})
		s.client.SignIn(s.issuer)
		seen := s.issuer.Requests("/token")
		if len(seen) == 0 || (seen[0].Header.Get("Traceparent") != "") != sends {
			t.Errorf("O-010: Propagate %t: %v", sends, seen)
		}
	}
}

// O-013: a wrong password is no error, and a failure that an operator mends is.
func TestStatus(t *testing.T) {
	s := newSite(t)
	for mend, want := range map[bool]codes.Code{false: codes.Unset, true: codes.Error} {
		_, span := s.tracer.Begin(t.Context(), telemetry.Operation{Kind: telemetry.OpRequest, Name: fmt.Sprint("mend ", mend)})
		span.End(telemetry.OperationResult{Type: latchkey.ErrCredentialsSignin, Mend: mend})
		got := s.named(fmt.Sprint("mend ", mend))[0]
		if got.Status().Code != want || value(got, "error.type") != "CredentialsSignin" {
			t.Errorf("O-013: %v %v", got.Status(), got.Attributes())
		}
	}
}

// O-015: what spans say of a user.
func TestUsers(t *testing.T) {
	for _, user := range []latchkeyotel.User{latchkeyotel.UserNone, latchkeyotel.UserHash, latchkeyotel.UserID} {
		s := newSite(t, func(o *latchkeyotel.Options) { o.User, o.UserKey = user, []byte("a key of 16 bytes or more") })
		s.client.SignIn(s.issuer)
		span := s.named("GET /auth/callback/{provider}")[0]
		id, hash := value(span, "user.id"), value(span, "user.hash")
		if (id != "") != (user == latchkeyotel.UserID) || (hash != "") != (user == latchkeyotel.UserHash) || hash != "" && len(hash) != 32 {
			t.Errorf("O-015: %q: id %q, hash %q", user, id, hash)
		}
		for name, m := range s.metrics() {
			for _, set := range sets(m) {
				for _, a := range set.ToSlice() {
					if strings.Contains(string(a.Key), "user") && a.Key != "latchkey.new_user" || id != "" && a.Value.String() == id {
						t.Errorf("O-015: %s has %s", name, a.Key)
					}
				}
			}
		}
	}
	if _, err := latchkeyotel.New(latchkeyotel.Options{User: latchkeyotel.UserHash, UserKey: []byte("short")}); err == nil {
		t.Error("O-015: a short key passes")
	}
	if _, err := latchkeyotel.New(latchkeyotel.Options{MaxProviders: 34}); err == nil {
		t.Error("O-012: 34 providers pass")
	}
}

// O-011, O-012: whatever strangers send, no metric has more than 1,800 series.
func TestSeriesAreBounded(t *testing.T) {
	s := newSite(t, func(o *latchkeyotel.Options) { o.Tenants = true })
	ctx := context.Background()
	for i := range 20_000 {
		p := fmt.Sprintf("provider-%d", i%500)
		_, span := s.tracer.Begin(ctx, telemetry.Operation{Kind: telemetry.OpProvider, Name: "GET", Provider: p, Action: "token", URL: "https://a"})
		span.End(telemetry.OperationResult{Status: 100 + i%500, Type: latchkey.ErrorType(fmt.Sprint("T", i))})
		_, span = s.tracer.Begin(ctx, telemetry.Operation{Kind: telemetry.OpStore, Name: fmt.Sprint("Op", i), System: "memory"})
		span.End(telemetry.OperationResult{})
		s.tracer.Count(ctx, telemetry.Measure{Kind: telemetry.SignIns, Provider: p, Tenant: fmt.Sprint("t", i), Value: "failure", Type: latchkey.ErrorType(fmt.Sprint("T", i)), N: 1})
		s.tracer.Count(ctx, telemetry.Measure{Kind: telemetry.Failures, Type: latchkey.ErrorType(fmt.Sprint("T", i)), Value: fmt.Sprint("d", i), N: 1})
	}
	for name, m := range s.metrics() {
		all := sets(m)
		if len(all) > 1800 {
			t.Errorf("O-012: %s has %d series", name, len(all))
		}
		for _, set := range all {
			if set.HasValue("otel.metric.overflow") {
				t.Errorf("O-012: %s has overflowed", name)
			}
		}
	}
	tenants := sets(s.metrics()["latchkey.tenant.sign_ins"])
	if len(tenants) != 101 {
		t.Errorf("O-012: %d tenants", len(tenants))
	}
}

// provoke has every metric counted once.
func (s *site) provoke() {
	ctx := context.Background()
	s.client.SignIn(s.issuer)
	for _, kind := range []telemetry.MeasureKind{
		telemetry.SignIns, telemetry.SessionReads, telemetry.SessionsOpened, telemetry.SessionsEnded, telemetry.SessionSize, telemetry.TokensOpened,
		telemetry.Failures, telemetry.LimiterRefusals, telemetry.KeyFetches, telemetry.Mails, telemetry.AuditEvents, telemetry.ClockSkew,
	} {
		s.tracer.Count(ctx, telemetry.Measure{Kind: kind, Provider: "issuer", Value: "x", N: 1})
	}
}

// list describes the metrics, one a line: name, kind, unit, attributes, bounds, and the
// name in Prometheus.
func list(all map[string]metricdata.Metrics) (lines []string) {
	for name, m := range all {
		kind, bounds, total := "", "", "_total"
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			if kind = "counter"; !data.IsMonotonic {
				kind, total = "updown", ""
			}
		case metricdata.Histogram[float64]:
			kind, bounds, total = "histogram", fmt.Sprint(data.DataPoints[0].Bounds), map[string]string{"s": "_seconds", "By": "_bytes"}[m.Unit]
		case metricdata.Gauge[float64]:
			kind, total = "gauge", "_seconds"
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", name, kind, m.Unit, strings.ReplaceAll(name, ".", "_")+total, bounds)))
	}
	slices.Sort(lines)
	return lines
}

// O-014: names, units and bounds are those of the committed list.
func TestMetricsList(t *testing.T) {
	s := newSite(t)
	s.provoke()
	got := strings.Join(list(s.metrics()), "\n") + "\n"
	want, err := os.ReadFile("../metrics.txt")
	if os.Getenv("LATCHKEY_WRITE") != "" {
		err = os.WriteFile("../metrics.txt", []byte(got), 0o644)
		want = []byte(got)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("O-014: the metrics are\n%s\nand otel/metrics.txt has\n%s\nWrite it with LATCHKEY_WRITE=1, and a line in CHANGELOG.md for what changed", got, want)
	}
}

// O-017: the standard names instead of ours.
func TestStandardMetrics(t *testing.T) {
	s := newSite(t, func(o *latchkeyotel.Options) { o.StandardMetrics = true })
	s.client.SignIn(s.issuer)
	all := s.metrics()
	for name, want := range map[string]bool{
		"http.client.request.duration": true, "db.client.operation.duration": true, "latchkey.provider.duration": false, "latchkey.store.duration": false,
	} {
		if _, ok := all[name]; ok != want {
			t.Errorf("O-017: %s: %t", name, ok)
		}
	}
}

// O-014, O-016: what Prometheus scrapes has the names of the list.
func TestPrometheusNames(t *testing.T) {
	registry := prometheus.NewRegistry()
	exporter, err := otelprom.New(otelprom.WithRegisterer(registry))
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(o *latchkeyotel.Options) {
		o.MeterProvider = metric.NewMeterProvider(metric.WithReader(exporter))
	})
	s.provoke()
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	names, err := os.ReadFile("../metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	scraped := w.Body.String()
	for line := range strings.Lines(string(names)) {
		if name := strings.Fields(line)[3]; !strings.Contains(scraped, "\n"+name) {
			t.Errorf("O-014: Prometheus has no %s", name)
		}
	}
	for _, path := range []string{"../alerts/latchkey.yml", "../dashboards/latchkey.json"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`latchkey_[a-z_]+(_total|_seconds|_bytes|_requests)\b`).FindAllString(string(text), -1) {
			if !strings.Contains(string(names), " "+name) {
				t.Errorf("O-019: %s asks for %s, which is not in the list", path, name)
			}
		}
	}
}

// O-019: each alert fires, and stays quiet; each query of the dashboard parses.
func TestAlertsAndDashboard(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("LATCHKEY_REQUIRE_SERVERS") != "" {
			t.Fatal("promtool is not installed: scripts/setup")
		}
		t.Skip("promtool is not installed: scripts/setup")
	}
	run := func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), promtool, args...)
		c.Dir = "../alerts"
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("O-019: promtool %s: %v\n%s", args, err, out)
		}
	}
	run("check", "rules", "latchkey.yml")
	run("test", "rules", "latchkey_test.yml")
	text, err := os.ReadFile("../dashboards/latchkey.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	rules, n := "groups:\n- name: dashboard\n  rules:\n", 0
	for _, p := range dashboard.Panels {
		for _, q := range p.Targets {
			n++
			rules += fmt.Sprintf("  - record: panel:%d\n    expr: %q\n", n, strings.NewReplacer("$job", ".*", "$provider", ".*").Replace(q.Expr))
		}
	}
	file := filepath.Join(t.TempDir(), "panels.yml")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil || n < 18 {
		t.Fatal(err, n)
	}
	run("check", "rules", file)
}
