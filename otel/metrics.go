package latchkeyotel

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/latchkeyhq/latchkey/telemetry"
)

// The bounds of histograms: in seconds of requests, of provider calls and of store
// calls, and in bytes.
var (
	requestBounds  = []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	providerBounds = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}
	storeBounds    = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}
	sizeBounds     = []float64{256, 512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384}
)

// mostSeries bounds the attribute sets of one metric. SDKs keep 2,000, and lose the
// attributes of what comes later.
const mostSeries = 1800

// series makes each attribute set of a metric once. It is safe for concurrent use.
type series struct {
	keys []attribute.Key

	mu   sync.RWMutex
	sets map[[4]string]*attributeSet
}

type attributeSet struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

// newSeries returns a series of attribute sets with these keys, at most four.
func newSeries(keys ...attribute.Key) *series {
	return &series{keys: keys, sets: map[[4]string]*attributeSet{}}
}

// of returns the attribute set of the values, in the order of the keys, at most four.
// It leaves out a key with an empty value. A series has at most mostSeries sets: the
// last one has "_OTHER" for every key, and stands for all new sets from then on.
func (s *series) of(values ...string) *attributeSet {
	var key [4]string
	copy(key[:], values)
	s.mu.RLock()
	set := s.sets[key]
	s.mu.RUnlock()
	if set != nil {
		return set
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if set := s.sets[key]; set != nil {
		return set
	}
	if len(s.sets) >= mostSeries-1 {
		for i := range s.keys {
			key[i] = other
		}
		if set := s.sets[key]; set != nil {
			return set
		}
	}
	list := make([]attribute.KeyValue, 0, len(s.keys))
	for i, name := range s.keys {
		if key[i] != "" {
			list = append(list, name.String(key[i]))
		}
	}
	option := metric.WithAttributeSet(attribute.NewSet(list...))
	set = &attributeSet{[]metric.AddOption{option}, []metric.RecordOption{option}}
	s.sets[key] = set
	return set
}

type counter struct {
	metric.Int64Counter
	*series
}

type histogram struct {
	metric.Float64Histogram
	*series
}

// instruments are the metrics, each with its attribute sets.
type instruments struct {
	standard bool

	active                   metric.Int64UpDownCounter
	request, provider, store histogram
	size                     histogram
	skew                     metric.Float64Gauge
	skewSets                 *series

	counters map[telemetry.MeasureKind]counter
	tenants  counter
}

// counters are the metrics that count a measure, with their unit and attributes.
var counters = []struct {
	kind        telemetry.MeasureKind
	unit, about string
	keys        []attribute.Key
}{
	{telemetry.SignIns, "{sign_in}", "Sign-ins that were completed, paused or refused.", []attribute.Key{"latchkey.provider", "latchkey.outcome", "error.type", "latchkey.new_user"}},
	{telemetry.SessionReads, "{read}", "Reads of a session, by what came of them.", []attribute.Key{"latchkey.result"}},
	{telemetry.SessionsOpened, "{session}", "Sessions that were opened.", []attribute.Key{"latchkey.strategy"}},
	{telemetry.SessionsEnded, "{session}", "Sessions that were ended.", []attribute.Key{"latchkey.reason"}},
	{telemetry.TokensOpened, "{token}", "Session tokens, by the age of the secret that opened them.", []attribute.Key{"latchkey.key"}},
	{telemetry.Failures, "{failure}", "Failures that were logged.", []attribute.Key{"error.type", "latchkey.detail"}},
	{telemetry.LimiterRefusals, "{refusal}", "Events that a limit refused.", []attribute.Key{"latchkey.limit", "latchkey.scope"}},
	{telemetry.KeyFetches, "{fetch}", "Fetches of a provider's keys.", []attribute.Key{"latchkey.provider", "latchkey.reason", "error.type"}},
	{telemetry.Mails, "{mail}", "Mails that were handed over.", []attribute.Key{"latchkey.kind", "latchkey.outcome"}},
	{telemetry.AuditEvents, "{event}", "Events of the audit log.", []attribute.Key{"latchkey.sink", "latchkey.outcome"}},
}

// newInstruments makes all instruments. The error joins those of the ones that cannot be
// made.
func newInstruments(m metric.Meter, o *Options) (*instruments, error) {
	i := &instruments{standard: o.StandardMetrics, counters: map[telemetry.MeasureKind]counter{}}
	var faults []error
	duration := func(name, about string, bounds []float64, keys ...attribute.Key) histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(about), metric.WithExplicitBucketBoundaries(bounds...))
		faults = append(faults, err)
		return histogram{h, newSeries(keys...)}
	}
	i.request = duration("latchkey.request.duration", "Duration of requests below the base path.", requestBounds, "latchkey.action", "latchkey.outcome", "http.response.status_code")
	if o.StandardMetrics {
		i.provider = duration("http.client.request.duration", "Duration of HTTP client requests.", providerBounds, "http.request.method", "server.address", "http.response.status_code", "error.type")
		i.store = duration("db.client.operation.duration", "Duration of database client operations.", storeBounds, "db.operation.name", "db.system.name", "error.type")
	} else {
		i.provider = duration("latchkey.provider.duration", "Duration of calls to providers.", providerBounds, "latchkey.provider", "latchkey.step", "http.response.status_class", "error.type")
		i.store = duration("latchkey.store.duration", "Duration of calls to stores.", storeBounds, "db.operation.name", "db.system.name", "error.type")
	}
	var err error
	i.active, err = m.Int64UpDownCounter("latchkey.active_requests", metric.WithUnit("{request}"), metric.WithDescription("Requests that are being answered."))
	faults = append(faults, err)
	size, err := m.Float64Histogram("latchkey.session.size", metric.WithUnit("By"), metric.WithDescription("Size of sealed sessions."), metric.WithExplicitBucketBoundaries(sizeBounds...))
	faults = append(faults, err)
	i.size = histogram{size, newSeries()}
	i.skew, err = m.Float64Gauge("latchkey.clock.skew", metric.WithUnit("s"), metric.WithDescription("By how much a provider's clock is ahead."))
	faults = append(faults, err)
	i.skewSets = newSeries("latchkey.provider")
	for _, c := range counters {
		made, err := m.Int64Counter("latchkey."+string(c.kind), metric.WithUnit(c.unit), metric.WithDescription(c.about))
		faults = append(faults, err)
		i.counters[c.kind] = counter{made, newSeries(c.keys...)}
	}
	if o.Tenants {
		made, err := m.Int64Counter("latchkey.tenant.sign_ins", metric.WithUnit("{sign_in}"), metric.WithDescription("Sign-ins by tenant."))
		faults = append(faults, err)
		i.tenants = counter{made, newSeries("latchkey.tenant", "latchkey.outcome")}
	}
	return i, errors.Join(faults...)
}

// ended records how long the operation of s took, which ended with r. It records only
// requests and calls to providers and stores. A request no longer counts as active
// afterwards, so ended must be called once for each span.
func (i *instruments) ended(s *span, r *telemetry.OperationResult) {
	took := now().Sub(s.began).Seconds()
	t := s.of
	kind := t.types.name(string(r.Type))
	switch s.op.Kind {
	case telemetry.OpRequest:
		i.active.Add(s.ctx, -1)
		i.request.Record(s.ctx, took, i.request.of(s.op.Action, outcomeOf(r), statusOf(r.Status)).record...)
	case telemetry.OpProvider:
		if i.standard {
			i.provider.Record(s.ctx, took, i.provider.of(s.op.Method, t.words.name(hostOf(s.op.URL)), statusOf(r.Status), kind).record...)
			return
		}
		i.provider.Record(s.ctx, took, i.provider.of(t.providers.name(s.op.Provider), s.op.Action, classOf(r.Status), kind).record...)
	case telemetry.OpStore:
		i.store.Record(s.ctx, took, i.store.of(t.words.name(s.op.Name), systemOf(&s.op), kind).record...)
	}
}

// statusOf returns an HTTP status as text, or "" for 0.
func statusOf(status int) string {
	if status == 0 {
		return ""
	}
	return strconv.Itoa(status)
}

// classOf returns the class of an HTTP status, such as 2xx, or "" for 0.
func classOf(status int) string {
	if status == 0 {
		return ""
	}
	return strconv.Itoa(status/100) + "xx"
}

// Count implements [telemetry.Tracer]. It ignores a measure whose kind has no metric.
func (t *tracer) Count(ctx context.Context, m telemetry.Measure) {
	i, typ := t.instruments, t.types.name(string(m.Type))
	switch m.Kind {
	case telemetry.SessionSize:
		i.size.Record(ctx, float64(m.N), i.size.of().record...)
		return
	case telemetry.ClockSkew:
		i.skew.Record(ctx, (time.Duration(m.N) * time.Millisecond).Seconds(), i.skewSets.of(t.providers.name(m.Provider)).record...)
		return
	}
	c, ok := i.counters[m.Kind]
	if !ok {
		return
	}
	var set *attributeSet
	switch m.Kind {
	case telemetry.SignIns:
		outcome, isNew := m.Value, ""
		if outcome == "new_user" {
			outcome, isNew = "success", "true"
		}
		set = c.of(t.providers.name(m.Provider), outcome, typ, isNew)
		if t.options.Tenants && m.Tenant != "" {
			i.tenants.Add(ctx, m.N, i.tenants.of(t.tenants.name(m.Tenant), outcome).add...)
		}
	case telemetry.Failures:
		set = c.of(typ, t.words.name(m.Value))
	case telemetry.LimiterRefusals:
		set = c.of(t.words.name(m.Value), m.Provider)
	case telemetry.AuditEvents:
		set = c.of(m.Provider, m.Value)
	case telemetry.KeyFetches:
		set = c.of(t.providers.name(m.Provider), m.Value, typ)
	case telemetry.Mails:
		outcome := "success"
		if typ != "" {
			outcome = "failure"
		}
		set = c.of(t.words.name(m.Value), outcome)
	default:
		set = c.of(m.Value)
	}
	c.Add(ctx, m.N, set.add...)
}
