// Package latchkeyotel tells OpenTelemetry what Latchkey does: spans of requests and of
// calls to providers, stores and callbacks, and metrics without personal data. It needs
// the API of OpenTelemetry alone; SDK and exporters are the application's.
package latchkeyotel
