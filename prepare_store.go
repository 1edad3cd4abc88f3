package latchkey

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/watch"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// prepareStores finds out what the adapter can do, and chooses the limiter and
// the store of used values.
func (s *setup) prepareStores(f *failure.List, shared common) {
	s.config.Limits.check(f)
	s.mark = newProcessMark()
	s.bounds = &guarded.Bounds{Timeout: s.config.Limits.StoreTimeout, Log: s.log, Health: s.health}
	if named, ok := s.config.Adapter.(storage.SystemAdapter); ok {
		s.bounds.System = named.DBSystem()
	}
	s.lateEnds = directory.NewLateEnds(s.bounds)
	s.config.Session.Cache.check(f)
	s.beliefs = directory.NewSessionCache(s.config.Session.Cache.MaxAge, s.config.Session.Cache.Size, s.now)
	if s.config.Adapter != nil {
		s.store = directory.NewStore(s.config.Adapter, s.bounds)
		s.store.SessionCache = s.beliefs
	}
	s.prepareSessionStore(f)
	s.prepareLimiter(shared.limiter)
	s.prepareReplay(shared)
}

// prepareLimiter chooses the limiter: the configured one, else on a hardened site the Adapter
// if it can, else here, the memory of this process. If here is nil, it makes one.
func (s *setup) prepareLimiter(here *limit.Memory) {
	if here == nil {
		here = limit.NewMemory(s.now)
	}
	var shared *limit.Shared
	if chosen := s.config.sharedLimiter(); chosen != nil {
		shared = limit.NewShared(chosen, here, s.bounds, s.now)
	}
	s.limits = limit.New(s.config.Limits.rates(), s.config.Limits.Disabled, s.keys, here, shared)
	s.limits.OnRefusal(watch.Refusals(s.log))
}

// prepareReplay sets s.replay to what sharedReplay returns, or else to the process's memory.
func (s *setup) prepareReplay(shared common) {
	here, recent := shared.replay, shared.recent
	if here == nil {
		here, recent = limit.NewUsedValues(s.now), limit.NewRecent(s.now)
	}
	if chosen := s.config.sharedReplay(); chosen != nil {
		here = &limit.SharedReplay{Store: chosen, Bounds: s.bounds}
	}
	s.replay = limit.NewOnce(here, recent, s.keys)
}

// prepareSessionStore puts the store of sessions beside the Adapter.
func (s *setup) prepareSessionStore(f *failure.List) {
	c := &s.config.Session
	switch {
	case c.Store == nil && c.AdapterToo:
		f.Add(ErrInvalidConfig, "Session.AdapterToo is for sites that have set Session.Store; leave it out")
	case c.Store == nil:
	case s.store == nil:
		f.Add(ErrMissingAdapter, "Session.Store keeps sessions and knows no users: set Config.Adapter too")
	case c.Strategy != DatabaseSessions:
		f.Add(ErrInvalidConfig, "Session.Store is for Session.Strategy %q, and it is %q: leave one of the two out", DatabaseSessions, c.Strategy)
	case sameStore(s.config.Adapter, c.Store):
		f.Add(ErrInvalidConfig, "Session.Store is the Adapter itself, which keeps the sessions anyway: leave it out")
	case c.AdapterToo && s.store.SessionRows == nil:
		f.Add(ErrMissingAdapterMethods, "Session.AdapterToo needs an Adapter that is a %s; %T is not", directory.AbilitySessions, s.config.Adapter)
	default:
		s.store.Apart = &directory.SessionsApart{Store: c.Store, Tenant: s.tenant, InAdapter: c.AdapterToo}
	}
}

func (l *Limits) rates() limit.Rates {
	return limit.Rates{
		AttemptsPerAccount: l.CredentialsPerAccount, AttemptsPerClient: l.CredentialsPerClient,
		MailsPerRecipient: l.MailsPerRecipient, MailsPerClient: l.MailsPerClient, LinkAttempts: l.LinkTries, Factors: l.FactorPerUser,
	}
}

// check refuses numbers that would switch a limit off without saying so.
func (l *Limits) check(f *failure.List) {
	for _, r := range []struct {
		field string
		rate  Rate
	}{
		{"CredentialsPerAccount", l.CredentialsPerAccount},
		{"CredentialsPerClient", l.CredentialsPerClient},
		{"MailsPerRecipient", l.MailsPerRecipient},
		{"MailsPerClient", l.MailsPerClient},
		{"LinkTries", l.LinkTries},
		{"FactorPerUser", l.FactorPerUser},
	} {
		if (r.rate != Rate{}) && (r.rate.Events <= 0 || r.rate.Per <= 0) {
			f.Add(ErrInvalidConfig, "Limits.%s: want both Events and Per above zero, or neither for the default; Limits.Disabled switches limits off", r.field)
		}
	}
	sizes := min(l.MaxBodyBytes, l.MaxResponseBytes)
	times := min(l.ProviderCallTimeout, l.ProviderTimeout, l.StoreTimeout, l.CallbackTimeout, l.MailTimeout, l.EventTimeout)
	if sizes < 0 || times < 0 {
		f.Add(ErrInvalidConfig, "Limits: MaxBodyBytes, MaxResponseBytes and the timeouts must not be negative; zero is the default")
	}
}

// prepareSessions sets s.sessions and s.revocations for the configured strategy.
func (s *setup) prepareSessions(f *failure.List) {
	c := &s.config.Session
	c.check(f)
	if c.UpdateAge >= c.MaxAge && c.Strategy == DatabaseSessions {
		s.log.WarnAtStart("Session.UpdateAge is not shorter than Session.MaxAge: stored sessions end before they are ever extended")
	}
	switch c.Strategy {
	case DatabaseSessions:
		s.warnOfUnusedToken()
		prepareEnds(s)
		s.sessions = &databaseStrategy{s}
		return
	case JWTSessions:
		s.prepareRevocations(f)
	default:
		f.Add(ErrUnsupportedStrategy, "Session.Strategy %q: want %q or %q", c.Strategy, JWTSessions, DatabaseSessions)
	}
	s.sessions = newTokenStrategy(s)
}

// warnOfUnusedToken warns of a Callbacks.Token, which stored sessions never call. An
// Adapter makes sessions stored, and what the callback put into them is then missing.
func (s *setup) warnOfUnusedToken() {
	if s.config.Callbacks.Token != nil {
		s.log.WarnAtStart("Callbacks.Token is never called with stored sessions: use Callbacks.Session, or set Session.Strategy to JWTSessions")
	}
}

// check adds to f lifetimes, and tokens of NewToken, that cannot work.
func (c *SessionConfig) check(f *failure.List) {
	if c.MaxAge < time.Second || c.JWT.MaxAge < time.Second {
		f.Add(ErrInvalidConfig, "Session.MaxAge and Session.JWT.MaxAge: want at least one second, or zero for 30 days")
	}
	if c.AbsoluteMaxAge < 0 {
		f.Add(ErrInvalidConfig, "Session.AbsoluteMaxAge must not be negative; zero is no limit")
	}
	if c.NewToken == nil {
		return
	}
	token := c.NewToken()
	if len(token) < minSessionToken {
		f.Add(ErrInvalidConfig, "Session.NewToken: its tokens must have at least %d characters", minSessionToken)
	}
	if c.Bearer && !browser.IsToken68(token) {
		f.Add(ErrInvalidConfig, "Session.NewToken: with Session.Bearer its tokens must be letters, digits and any of -._~+/")
	}
}

// prepareRevocations chooses the store of ended JWT sessions: the configured one, else the
// Adapter if it can. Without one, and with SkipRevocations, s.revocations stays nil.
func (s *setup) prepareRevocations(f *failure.List) {
	var own storage.RevocationStore
	if s.store != nil {
		own = s.store.Revocations
	}
	c, bounds := &s.config.Session, s.bounds
	chosen := c.Revocations
	switch {
	case c.SkipRevocations && chosen != nil:
		f.Add(ErrInvalidConfig, "Session: set Revocations or SkipRevocations, not both")
	case c.SkipRevocations:
		s.log.WarnAtStart("SkipRevocations: deleted users, and whoever holds a copied cookie, stay signed in until their JWT session expires")
		return
	case chosen == nil:
		chosen = own
		if own != nil && !directory.CanRevoke(own, bounds) {
			chosen = nil
			s.log.WarnAtStart("the Adapter has no place for revocations, so that JWT sessions of deleted users and copied cookies go on until they expire: run latchkey migrate, or set Session.Revocations or SkipRevocations")
		}
	case !directory.CanRevoke(chosen, bounds):
		f.Add(ErrInvalidConfig, "Session.Revocations: the store has no place for revocations: run latchkey migrate, or leave the field empty")
	}
	if chosen == nil {
		s.warnOfEndlessTokens()
		return
	}
	s.revocations = revocationsIn(s, chosen)
	s.revocations.Life = max(c.JWT.MaxAge, jwt.DefaultMaxAge) // it may have been longer before
}

// evidenceLife returns the longest life of what is void once the sessions of its user were
// ended: links, flows and cookies of known browsers.
func evidenceLife(providers []preparedProvider) time.Duration {
	longest := max(browser.CheckMaxAge, browser.KnownMaxAge, linkMaxAge) // links may have lived longer before
	for _, p := range providers {
		if e, ok := p.(*emailProvider); ok {
			longest = max(longest, e.MaxAge)
		}
	}
	return longest
}

// prepareProviders makes the providers ready, and sets s.providers and s.order.
func (s *setup) prepareProviders(f *failure.List) {
	if len(s.config.Providers) == 0 {
		f.Add(ErrInvalidProvider, "Providers is empty: nobody could sign in; add one, such as providers.GitHub(latchkey.OAuth{}) with AUTH_GITHUB_ID and AUTH_GITHUB_SECRET set")
	}
	s.providers = make(map[string]preparedProvider, len(s.config.Providers))
	for i, given := range s.config.Providers {
		if isNil(given) {
			f.Add(ErrInvalidProvider, "Providers[%d] is nil", i)
			continue
		}
		p, err := given.prepare(s, s.config.env.getenv)
		if err != nil {
			*f = append(*f, err)
		}
		if p == nil {
			continue
		}
		id := p.info().id
		if !validProviderID(id) {
			f.Add(ErrInvalidProvider, "Providers[%d]: id %q: want letters, digits, and - _ . only", i, id)
			continue
		}
		if slices.ContainsFunc(s.order, func(p preparedProvider) bool { return strings.EqualFold(p.info().id, id) }) {
			f.Add(ErrInvalidProvider, "Providers[%d]: id %q is used twice, upper and lower case aside: set the ID of one", i, id)
			continue
		}
		s.providers[id] = p
		s.order = append(s.order, p)
	}
	separateEmails(s.order)
	s.checkConditionalUI(f)
}

// checkConditionalUI adds a fault if two providers have browsers offer passkeys in a
// field: browsers do that in one form of a page.
func (s *setup) checkConditionalUI(f *failure.List) {
	first := ""
	for _, p := range s.order {
		info := p.info()
		if info.offersWhileTyping && first != "" {
			f.Add(ErrDuplicateConditionalUI, "the providers %q and %q both offer passkeys while somebody types: set SkipConditionalUI of one", first, info.id)
		}
		if info.offersWhileTyping {
			first = cmp.Or(first, info.id)
		}
	}
}

// prepareDirectory checks what features need of the Adapter. With one, it sets s.directory.
func (s *setup) prepareDirectory(f *failure.List) {
	for _, n := range s.needs() {
		switch {
		case s.store == nil:
			f.Add(ErrMissingAdapter, "%s needs an Adapter: set Config.Adapter, to memoryadapter.New for a first try", n.who)
		case !s.store.Has(n.what):
			*f = append(*f, s.store.Require(n.who, n.what))
		}
	}
	alone := !slices.ContainsFunc(s.order, func(p preparedProvider) bool { return !p.info().withoutSessions })
	if s.config.Session.Strategy == DatabaseSessions && alone && len(s.order) > 0 {
		f.Add(ErrUnsupportedStrategy, "signing in with credentials alone needs Session.Strategy %q", JWTSessions)
	}
	if s.revocations != nil {
		s.revocations.EvidenceLife = evidenceLife(s.order)
	}
	if s.store == nil {
		return
	}
	s.directory = &directory.Directory{
		Store: s.store, Revocations: s.revocations, Providers: s.providerFacts(), RefuseEviction: s.config.Security.RefuseEviction,
		Log: s.log, Now: s.now, ExportMore: s.config.AccountPage.ExportMore,
	}
	s.directory.EndlessTokens = s.config.Session.Strategy == JWTSessions && s.revocations == nil
	s.directory.StoredSessions = s.config.Session.Strategy == DatabaseSessions
	s.directory.ProvesEmails = slices.ContainsFunc(s.order, func(p preparedProvider) bool { return p.info().provesEmail })
	if s.directory.EndlessTokens && s.directory.ProvesEmails && !s.config.Session.SkipRevocations && !s.config.Hardened {
		s.log.WarnAtStart("whoever signed in before an e-mail address was proven stays signed in until their JWT session expires: set Session.Revocations, or an Adapter that is a RevocationStore")
	}
	if s.config.Invitations {
		directory.KeepChallenges(s.directory, s.config.Secrets, s.tenant)
	}
	preparePasswords(s, f)
	prepareMoves(s, f)
	s.warnOfLesserStores()
	prepareFactors(s, f)
}

func (s *setup) providerFacts() map[string]directory.ProviderFacts {
	facts := make(map[string]directory.ProviderFacts, len(s.order))
	for _, p := range s.order {
		info := p.info()
		facts[info.id] = directory.ProviderFacts{Type: info.kind, ProvesNoEmail: info.provesNoEmail}
	}
	return facts
}

// need is a feature that asks something of the adapter.
type need struct {
	who  string
	what directory.Ability
}

// needs returns what each feature needs of the Adapter.
func (s *setup) needs() []need {
	var table []need
	if s.config.Session.Strategy == DatabaseSessions {
		table = append(table, need{`Session.Strategy "database"`, directory.AbilitySessions})
	}
	for _, p := range s.order {
		for _, what := range p.info().needs {
			table = append(table, need{"the " + string(p.info().kind) + " provider " + p.info().id, what})
		}
	}
	for _, what := range factorNeeds(&s.config) {
		table = append(table, need{"Factors", what})
	}
	if s.config.Invitations {
		table = append(table, need{"Invitations", directory.AbilityChallenges})
	}
	for field, what := range s.config.AccountPage.needs(endsSessions(&s.config)) {
		table = append(table, need{field, what})
	}
	return table
}

// warnOfLesserStores warns of each defence that the Adapter lacks the methods for.
func (s *setup) warnOfLesserStores() {
	if s.store.Tx == nil && s.store.SignUps == nil {
		s.log.WarnAtStart("the Adapter is neither a TxAdapter nor a SignUpAdapter: a sign-up that is cut short has to be cleaned up by hand")
	}
	if !s.directory.ProvesEmails {
		return
	}
	if s.store.AccountLists == nil {
		s.log.WarnAtStart("the Adapter is no AccountAdapter: accounts that others have attached to an e-mail address stay attached when its owner proves it")
	}
	if s.config.Session.Strategy == DatabaseSessions && len(s.store.SessionListers()) == 0 {
		s.log.WarnAtStart("the Adapter is no SessionListAdapter: sessions that others have opened live on when the owner of the e-mail address proves it")
	}
}
