package latchkey

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/latchkeyhq/latchkey/internal/explain"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/watch"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// beginRequest begins the operation of a request. The step is nil if nothing traces.
func beginRequest(ctx context.Context, s *setup, r *Request) (context.Context, *journal.Step) {
	if s == nil || !s.log.Traces() {
		return ctx, nil
	}
	return s.log.BeginCall(ctx, telemetry.OpRequest, func() *telemetry.Operation { return operationOf(s, r) })
}

// operationOf describes a request in words of the configuration alone.
func operationOf(s *setup, r *Request) *telemetry.Operation {
	op := &telemetry.Operation{Kind: telemetry.OpRequest, Method: watch.Method(r.Method), Tenant: s.tenant, Carrier: watch.Carrier(r.Header)}
	route := "*"
	if action, id, ok := parsePath(s.config.Site.BasePath, r.URL.EscapedPath()); ok && s.config.offersAction(action) {
		op.Action, route = action, action
		if p := s.providers[id]; p != nil {
			op.Provider = p.info().id
		}
		if id != "" {
			route += "/{" + secondPart(action) + "}"
		}
	}
	op.Route = s.config.Site.Prefix + s.config.Site.BasePath + "/" + route
	op.Name = op.Method + " " + op.Route
	return op
}

// secondPart returns the name of what follows an action in a path.
func secondPart(action string) string {
	if action == "client" {
		return "file"
	}
	return "provider"
}

// endRequest ends the operation of a request. x and res are nil if there are none.
func endRequest(step *journal.Step, x *exchange, res *Response, err error) {
	if step == nil {
		return
	}
	var r telemetry.OperationResult
	if res != nil {
		r.Status = statusOf(res)
	}
	if x != nil {
		r.UserID, r.Decisions, r.Reference = x.trail.UserID, x.trail.Decisions, x.reference
	}
	if err != nil && !isSteering(err) {
		r.Type, r.Detail, r.Mend, r.Err = failure.TypeOf(err), explain.DetailOf(err), levelOf(err) >= slog.LevelError, handOut(x, err)
	}
	step.EndWith(r, err)
}

// statusOf returns the status with which res is sent.
func statusOf(res *Response) int {
	switch {
	case res.Status != 0:
		return res.Status
	case res.Redirect != "":
		return http.StatusFound
	}
	return http.StatusOK
}
