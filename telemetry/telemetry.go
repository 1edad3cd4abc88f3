// Package telemetry is the contract between Latchkey and a tracer, such as the one of
// module otel. A tracer hears of each request, of each call to a provider, a store or
// a function of the application, and of what is worth counting. Nothing that it is
// given holds a secret or an e-mail address.
package telemetry

import (
	"context"
	"net/http"

	"github.com/latchkeyhq/latchkey/fault"
)

// Tracer receives operations and measures. Its methods are called concurrently and must
// not block. One that panics, or takes longer than a quarter of a second, is left alone
// for a minute, with a line in the log.
type Tracer interface {
	// Begin is called before an operation. The context that it returns is that of the
	// operation, and of those within it. A nil Span says that the tracer is not
	// interested; a nil context stands for ctx.
	Begin(ctx context.Context, op Operation) (context.Context, Span)
	// Count is called for each measure. ctx is that of the operation in which the
	// measure was taken.
	Count(ctx context.Context, m Measure)
}

// Span is an operation that is going on. End is called exactly once, also after a panic.
type Span interface{ End(r OperationResult) }

// OperationKind is the kind of an [Operation]. The list is closed and grows with releases.
type OperationKind string

// The kinds of [Operation].
const (
	OpRequest    OperationKind = "request"    // below the base path
	OpProvider   OperationKind = "provider"   // a call to a provider
	OpStore      OperationKind = "store"      // a call of an adapter or another store
	OpCallback   OperationKind = "callback"   // a call of a function of the application
	OpMail       OperationKind = "mail"       // a mail is handed over
	OpBackground OperationKind = "background" // work outside of a request
)

// Operation is what a [Tracer] learns before an operation. Its texts come from the
// configuration and from closed lists, never from what a request says.
type Operation struct {
	Kind OperationKind
	// Name is "GET /auth/callback/{provider}" of a request, "POST /token" of a call to
	// a provider, "GetSessionAndUser" of a call to a store, and "Callbacks.SignIn" of a
	// callback.
	Name string
	// Action is the action of a request, such as "callback", and the step of a call to
	// a provider, such as "token". Empty: unknown, or there is none.
	Action   string
	Provider string // id of the provider; empty: none, or not configured
	Tenant   string // name of the tenant, on a site with tenants
	Method   string // of HTTP; "_OTHER" for unknown methods
	Route    string // of a request: the path of the name
	// URL is where a call to a provider goes, without user, query and fragment. For
	// calls that the application's own code makes it is the origin.
	URL    string
	System string // of a store, as in db.system.name of OpenTelemetry; empty: unknown
	// Carrier has the headers traceparent, tracestate and baggage of a request, and
	// nothing else. For a call to a provider it is empty: of what Begin writes into it
	// only these three headers are sent. nil otherwise.
	Carrier http.Header
}

// OperationResult is how an [Operation] ended.
type OperationResult struct {
	Status int // of HTTP; 0: there was none
	// Attempts is how often the call was made; 0: once.
	Attempts int
	Err      error
	// Type and Detail are empty if the operation succeeded. A visitor's mistake, such
	// as a wrong password, has a type, too; see Mend.
	Type   fault.ErrorType
	Detail fault.Detail
	// Mend reports that the failure is one that an operator has to mend.
	Mend      bool
	Reference string   // the reference code of the failure; empty: none
	UserID    string   // the user who signed in; empty: unknown
	Decisions []string // such as "state=ok" or "state=unchecked", at most 16, from a closed list
}

// MeasureKind is what a [Measure] counts. The list is closed and grows with releases.
type MeasureKind string

// The kinds of [Measure], with what their fields hold.
const (
	SignIns         MeasureKind = "sign_ins"         // Provider; Value: success, new_user, challenged or failure; Type
	SessionReads    MeasureKind = "session.reads"    // Value: live, renewed, none, expired, revoked, ended, invalid, unknown_key or error
	SessionsOpened  MeasureKind = "session.created"  // Value: the strategy, jwt or database
	SessionsEnded   MeasureKind = "session.ended"    // Value: sign_out
	SessionSize     MeasureKind = "session.size"     // N: bytes of a sealed session
	TokensOpened    MeasureKind = "tokens.opened"    // Value: newest or older, the secret that opened a session
	Failures        MeasureKind = "failures"         // Type, Detail in Value
	LimiterRefusals MeasureKind = "limiter.refusals" // Value: the field of Limits; Type is empty; Scope in Provider: shared or local
	KeyFetches      MeasureKind = "keys.fetches"     // Provider; Value: first, expired or unknown_kid; Type
	Mails           MeasureKind = "mails"            // Value: the kind of the mail; Type
	AuditEvents     MeasureKind = "audit.events"     // Value: written, folded, dropped or failed; Provider: log or store
	ClockSkew       MeasureKind = "clock.skew"       // Provider; N: milliseconds by which the provider's clock is ahead
)

// Measure is one thing to count. N is 1 unless its kind says otherwise.
type Measure struct {
	Kind     MeasureKind
	Provider string
	Tenant   string // name of the tenant, of SignIns on a site with tenants
	Value    string
	Type     fault.ErrorType
	N        int64
}
