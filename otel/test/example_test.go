package test

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/latchkeyhq/latchkey"
	latchkeyotel "github.com/latchkeyhq/latchkey/otel"
)

// Metrics for Prometheus: serve promhttp.Handler at /metrics, on a port that is not
// public.
func Example() {
	exporter, err := otelprom.New(otelprom.WithRegisterer(prometheus.DefaultRegisterer))
	if err != nil {
		panic(err)
	}
	tracer, err := latchkeyotel.New(latchkeyotel.Options{
		MeterProvider: metric.NewMeterProvider(metric.WithReader(exporter)),
	})
	if err != nil {
		panic(err)
	}
	config := latchkey.Config{Operations: latchkey.Operations{Tracer: tracer}}
	fmt.Println(config.Operations.Tracer != nil)
	// Output: true
}
