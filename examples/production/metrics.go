package main

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	latchkeyotel "github.com/latchkeyhq/latchkey/otel"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// newMetrics returns what counts, and the handler that Prometheus reads. A site without
// Prometheus leaves both out: then nothing is measured.
func newMetrics() (telemetry.Tracer, http.Handler, error) {
	registry := prometheus.NewRegistry()
	exporter, err := otelprom.New(otelprom.WithRegisterer(registry))
	if err != nil {
		return nil, nil, err
	}
	tracer, err := latchkeyotel.New(latchkeyotel.Options{
		MeterProvider: metric.NewMeterProvider(metric.WithReader(exporter), metric.WithCardinalityLimit(2000)),
	})
	if err != nil {
		return nil, nil, err
	}
	return tracer, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), nil
}
