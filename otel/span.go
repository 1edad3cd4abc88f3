package latchkeyotel

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/latchkeyhq/latchkey/telemetry"
)

var now = time.Now

// other stands for what is not among the names of a closed list.
const other = "_OTHER"

func cutPrefix(text, prefix string) (string, bool) { return strings.CutPrefix(text, prefix) }

// hostOf returns the host of a URL without its port, or "" if the URL is malformed or
// has none.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// closed is a list of names that grows to a bound. It is safe for concurrent use.
type closed struct {
	most int

	mu    sync.RWMutex
	names map[string]bool
}

// name returns text and adds it to the names. If the list is full, it returns "_OTHER"
// for a new name. It returns "" for an empty text.
func (c *closed) name(text string) string {
	c.mu.RLock()
	known := c.names[text]
	c.mu.RUnlock()
	if known || text == "" {
		return text
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.names[text] && len(c.names) >= c.most {
		return other
	}
	if c.names == nil {
		c.names = map[string]bool{}
	}
	c.names[text] = true
	return text
}

// attributesOf returns the attributes that a span begins with.
func (t *tracer) attributesOf(op *telemetry.Operation) []attribute.KeyValue {
	list := make([]attribute.KeyValue, 0, 8)
	add := func(key, value string) {
		if value != "" {
			list = append(list, attribute.String(key, value))
		}
	}
	add("latchkey.provider", op.Provider)
	if t.options.Tenants {
		add("latchkey.tenant", op.Tenant)
	}
	switch op.Kind {
	case telemetry.OpRequest:
		add("http.request.method", op.Method)
		add("http.route", op.Route)
		add("latchkey.action", op.Action)
	case telemetry.OpProvider:
		add("http.request.method", op.Method)
		add("url.full", op.URL)
		add("latchkey.step", op.Action)
		return append(list, addressOf(op.URL)...)
	case telemetry.OpStore:
		add("db.operation.name", op.Name)
		add("db.system.name", systemOf(op))
	}
	return list
}

// systemOf returns the system of a store, or "_OTHER" if that is unknown.
func systemOf(op *telemetry.Operation) string {
	if op.System == "" {
		return other
	}
	return op.System
}

// addressOf returns the attributes server.address and server.port of a URL, or nil if
// the URL is malformed or has no host.
func addressOf(text string) []attribute.KeyValue {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return nil
	}
	port := 443
	if u.Scheme == "http" {
		port = 80
	}
	if _, given, err := net.SplitHostPort(u.Host); err == nil {
		if n, err := strconv.Atoi(given); err == nil {
			port = n
		}
	}
	return []attribute.KeyValue{attribute.String("server.address", u.Hostname()), attribute.Int("server.port", port)}
}

// span implements [telemetry.Span].
type span struct {
	of    *tracer
	ctx   context.Context
	op    telemetry.Operation
	span  trace.Span
	began time.Time
}

// End implements [telemetry.Span]. It records the metrics and ends the span; call it once.
func (s *span) End(r telemetry.OperationResult) {
	s.of.instruments.ended(s, &r)
	if s.span.IsRecording() {
		s.span.SetAttributes(s.resultOf(&r)...)
		if r.Type != "" && r.Mend {
			s.span.SetStatus(codes.Error, string(r.Type))
		}
	}
	s.span.End()
}

// resultOf returns the attributes that are known at the end of an operation.
func (s *span) resultOf(r *telemetry.OperationResult) []attribute.KeyValue {
	list := make([]attribute.KeyValue, 0, 8)
	add := func(key, value string) {
		if value != "" {
			list = append(list, attribute.String(key, value))
		}
	}
	if r.Status != 0 {
		list = append(list, attribute.Int("http.response.status_code", r.Status))
	}
	if r.Attempts > 1 {
		list = append(list, attribute.Int("http.request.resend_count", r.Attempts-1))
	}
	add("error.type", string(r.Type))
	if s.op.Kind != telemetry.OpRequest {
		return list
	}
	add("latchkey.outcome", outcomeOf(r))
	add("latchkey.detail", string(r.Detail))
	add("latchkey.reference", r.Reference)
	if len(r.Decisions) > 0 {
		list = append(list, attribute.StringSlice("latchkey.decisions", r.Decisions))
	}
	if r.UserID != "" {
		switch s.of.options.User {
		case UserID:
			add("user.id", r.UserID)
		case UserHash:
			mac := hmac.New(sha256.New, s.of.options.UserKey)
			mac.Write([]byte(r.UserID))
			add("user.hash", hex.EncodeToString(mac.Sum(nil)[:16]))
		}
	}
	return list
}

// outcomeOf returns "failure" if r has an error type, and "success" otherwise.
func outcomeOf(r *telemetry.OperationResult) string {
	if r.Type != "" {
		return "failure"
	}
	return "success"
}
