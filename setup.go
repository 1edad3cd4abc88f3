package latchkey

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/audit"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/explain"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/health"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/passwords"
	"github.com/latchkeyhq/latchkey/internal/people"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/tokenjar"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/internal/weburl"
	"github.com/latchkeyhq/latchkey/internal/words"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// setup is a Config made ready: defaults filled in, checked, indexed. It never
// changes afterwards, so any number of requests may read it.
type setup struct {
	config Config
	tenant string // empty: there is one site
	links  links  // without an origin, which requests say

	// issuers is what configurations remember of providers together; nil: this
	// one remembers alone.
	issuers   *oauth.Shared
	ownClient *http.Client // makes the calls to providers; nil: Runtime.HTTPClient was given

	order     []preparedProvider // as configured
	providers map[string]preparedProvider

	trust     *hostTrust
	log       *journal.Logger
	started   time.Time
	health    *health.Board
	now       func() time.Time
	pages     *page.Pages
	languages *words.Matcher // of pages and mails

	cookieSpecs    [2]*browser.Specs // over http, over https
	stateCodec     *jwt.Codec        // seals the state parameter, which a redirect proxy with the same secrets can read
	bearerCodes    *jwt.Codec        // seals the codes that apps change for session tokens
	challengeCodec *jwt.Codec        // seals challenges inside of their cookie, as Auth.js does
	codes          *explain.Codec    // of failures
	cursors        *people.Cursors   // of lists of users
	keys           *keys.Keys        // of limits, used values and revocations
	csrfSecret     string            // all secrets, as hashes are made over them
	csrfSecrets    []string          // the same, and what it was before each rotation

	audit        *audit.Sink    // lines of the audit log; nil: none are written
	table        *audit.Table   // the audit log in the store; nil: there is none
	auditCursors *audit.Cursors // of its lists
	auditKey     []byte         // of the hashes of names in events
	ids          audit.IDs      // of events

	mark  processMark
	mails *mails

	bounds      *guarded.Bounds      // of the Adapter's calls, and of stores beside it
	store       *directory.Store     // nil: no database
	directory   *directory.Directory // nil: no database
	sessions    sessionStrategy
	lateEnds    *directory.LateEnds     // of sessions that a store could not end
	revocations *directory.Revocations  // nil: none
	beliefs     *directory.SessionCache // nil: none
	replay      *limit.Once
	limits      *limit.Limits
	hints       *directory.Hints  // seals what a logout at a provider needs
	vault       *vault.Vault      // nil: the Adapter cannot swap tokens
	jar         *tokenjar.Jar     // nil: browsers keep no provider tokens
	acting      *directory.Acting // nil: administrators do not act as users
	passwords   *passwords.Flows  // nil: the library keeps no passwords
	moves       *passwords.Flows  // of changes of addresses: passwords, or without a password; nil: there are none

	// Places for what is plugged in. nil: nothing is.

	// pause holds up a sign-in that was allowed, before anything is written;
	// its response goes to the browser instead.
	pause pause
	// principals know other proofs of who asks than the session cookie, and are
	// asked before it.
	principals []principal
}

// processMark begins the ids of the flows and challenges that this process makes,
// and so tells by whose clock they were made.
type processMark string

func newProcessMark() processMark { return processMark(secret.RandomHex(4)) }

// newID returns the id of a flow or challenge.
func (m processMark) newID() string { return string(m) + secret.RandomHex(4) }

// isIn reports whether this process has made the flow or challenge.
func (m processMark) isIn(id string) bool { return id != "" && strings.HasPrefix(id, string(m)) }

// bind returns text, the name of a key or a salt, as the one of this tenant. Without
// tenants it is text, which is that of Auth.js.
func (s *setup) bind(text string) string {
	if s.tenant == "" {
		return text
	}
	return text + "\x00" + s.tenant
}

// cookieSpecsFor returns the cookies for an origin.
func (s *setup) cookieSpecsFor(o weburl.Origin) *browser.Specs {
	if o.Secure {
		return s.cookieSpecs[1]
	}
	return s.cookieSpecs[0]
}

// secrets returns the operator's own secrets. Some of them may be empty.
func (s *setup) secrets() []string {
	secrets := slices.Clone(s.config.Secrets)
	for _, p := range s.order {
		secrets = append(secrets, p.info().secret)
	}
	return secrets
}

// tracksSignIns reports whether session tokens have to name the sign-in they
// come from.
func (s *setup) tracksSignIns() bool {
	return s.revocations != nil || assures(s) || s.config.logouts.any || s.config.Tokens.Cookie || s.config.Session.AbsoluteMaxAge > 0 || s.config.AccountPage.Enabled
}

// assures reports whether sessions keep what their users have proven: whether the site
// has second factors.
func assures(s *setup) bool { return s.directory != nil && s.directory.Factors != nil }

// unprovable returns an ErrInvalidConfig if no session of this site ever keeps a second factor
// (with isFactor), or the time of its sign-in (without). It returns nil for a nil s.
func unprovable(s *setup, isFactor bool) error {
	switch {
	case s == nil:
		return nil
	case isFactor && !assures(s):
		return failure.Wrap(ErrInvalidConfig, errors.New("NeedFactor asks for second factors: set Config.Factors.Kinds"))
	case s.config.Session.Strategy == JWTSessions && !s.tracksSignIns():
		return failure.Wrap(ErrInvalidConfig, errors.New("NeedRecent asks when users signed in, which no session here keeps: set AccountPage.Enabled or Session.AbsoluteMaxAge"))
	}
	return nil
}

// keepsProofs reports whether sessions keep when their users last proved their
// identity.
func keepsProofs(s *setup) bool { return assures(s) || s.moves != nil }

// tell stores the events in o where they are kept, and calls the application's functions
// for them. It logs errors. It also has the vault revoke the tokens of accounts that are
// gone.
func (s *setup) tell(ctx context.Context, o *directory.Outbox, about journal.Subject) {
	for _, row := range o.TakeGone() {
		s.vault.LetGo(row, vault.GrantUnlinked)
	}
	if s.config.AccountPage.Activity {
		if err := directory.KeepActivities(ctx, s.directory, o); err != nil {
			s.log.Error(ctx, about, err)
		}
	}
	_ = o.KeepRecords(ctx) // what is lost is reported
	s.config.Events.tellAll(ctx, o, s.config.Limits.EventTimeout, s.log, about, func(e *Event) { keepEvent(s, e) })
}

// flush writes what the audit log still holds back.
func (s *setup) flush(ctx context.Context) {
	s.audit.Flush()
	s.table.Flush(ctx)
}

// keepEvent gives an event an id, unless it has one, and adds its line to the audit log.
func keepEvent(s *setup, e *Event) {
	if e.ID == "" {
		e.ID = s.ids.Next(s.now())
	}
	s.audit.Add(*e)
}

// nameHash returns the hash that events have of a name that is no user's.
func nameHash(s *setup, name string) string { return audit.NameHash(s.auditKey, s.tenant, name) }

// outboxOf returns an outbox for events without a request.
func outboxOf(ctx context.Context, s *setup) *directory.Outbox {
	return &directory.Outbox{Base: &Event{Time: s.now().UTC(), Tenant: s.tenant, By: event.ActorIn(ctx)}, Audit: s.table}
}

// told stores and tells one event without a request. If the audit log is required and does not
// take it, told calls the functions of the application all the same, and returns ErrAudit.
func told(ctx context.Context, s *setup, e Event) error {
	o := outboxOf(ctx, s)
	o.Base.Client, o.Base.UserAgent, o.Base.RequestID = e.Client, e.UserAgent, e.RequestID // Add copies these from Base
	o.Add(e, nil)
	err := o.KeepRecords(ctx)
	s.tell(ctx, o, journal.NoSubject{})
	if err != nil && s.config.Operations.Audit.Required {
		return failure.Wrap(ErrAudit, failure.Of(fault.AuditStore, err))
	}
	return nil
}

// pruneAudit removes what is older than the audit log keeps, some rows at a time, and
// returns how many events it has removed or erased.
func pruneAudit(ctx context.Context, s *setup) (total int, err error) {
	if s.table == nil {
		return 0, nil
	}
	before, personal := audit.Retention(s.config.Operations.Audit.Keep, s.config.Operations.Audit.KeepPersonal, s.now())
	for n := 1; n > 0 && err == nil; total += n {
		if n, err = directory.PruneAudit(ctx, s.store, before, personal, audit.PruneAtOnce); err == nil {
			err = ctx.Err()
		}
	}
	if total > 0 {
		err = errors.Join(err, told(context.WithoutCancel(ctx), s, Event{Type: event.AuditPruned, Count: total}))
	}
	return total, err
}

// tableOf returns the audit log in the store. failures takes the events of what failed.
func tableOf(s *setup, failures *audit.Sink) *audit.Table {
	a := &s.config.Operations.Audit
	t := &audit.Table{
		Required: a.Required, Verbose: a.Verbose, Address: audit.Address(a.Address), Now: s.now, Told: failures.Told, Failures: failures,
		NewID: func() string { return s.ids.Next(s.now()) },
		Append: func(ctx context.Context, records []storage.AuditRecord) error {
			return directory.AppendAudit(context.WithoutCancel(ctx), s.store, records)
		},
		Lost: func(n int, err error) {
			s.log.Error(context.Background(), journal.NoSubject{}, failure.Wrap(ErrAudit, failure.Of(fault.AuditStore, err)), "alert", true, "lost", n)
		},
	}
	failures.Verbose = true // the table has looked at that
	failures.Keep = t.KeepLater
	return t
}

// setsSession reports whether res sets a session cookie. One that only clears it does
// not.
func (s *setup) setsSession(res *Response) bool {
	for _, c := range res.Cookies {
		for _, specs := range s.cookieSpecs {
			if c.Value != "" && strings.HasPrefix(c.Name, specs.Session.Name()) {
				return true
			}
		}
	}
	return false
}

// countSealed counts the size of a new session token, and whether the token that it
// replaces was sealed under the newest secret or an older one. It marks the read of the
// session as renewed. It does nothing without a tracer.
func countSealed(ctx context.Context, s *setup, v *visit, size int) {
	if !s.log.Traces() {
		return
	}
	v.why = "renewed"
	s.log.Count(ctx, telemetry.Measure{Kind: telemetry.SessionSize, N: int64(size)})
	if shown := v.credential.Token(); shown.Text != "" && shown.Spec != nil && s.config.Session.JWT.Decode == nil {
		age := "newest"
		if shown.Spec.Codec.SealedBy(shown.Text) > 0 {
			age = "older"
		}
		s.log.Count(ctx, telemetry.Measure{Kind: telemetry.TokensOpened, Value: age})
	}
}

// referenceOf returns the reference code of what failed in the request. The first d makes it.
func referenceOf(s *setup, v *visit, d fault.Detail) string {
	if v.reference == "" {
		v.reference = s.codes.Make(d, v.now())
	}
	return v.reference
}
