// Package test tests module otel with the SDK and exporters of OpenTelemetry, which
// users of the module do not inherit.
package test
