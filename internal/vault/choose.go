package vault

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/storage"
)

// memory is what a process remembers of an account beside its row. It is lost when the
// process ends.
type memory struct {
	mu     sync.Mutex
	retry  time.Time     // no request before this, after a passing failure
	pause  time.Duration // how long the last pause was
	failed error         // the passing failure
	forced time.Time     // the last renewal because an API refused the token
	early  time.Time     // the last early renewal of a token whose lifetime is unknown
}

// memoryOf returns the memory of an account, and adds an empty one if there is none.
func (v *Vault) memoryOf(key accountKey) *memory {
	if m, ok := v.memories.Get(key); ok {
		return m
	}
	return v.memories.GetOrAdd(key, &memory{})
}

// errReadOnly refuses to renew a token whose successor would be lost.
var errReadOnly = errors.New("the response has begun, so a cookie with a renewed token cannot be set: call AccessToken before writing the body")

// forcedPause is how often a token that an API refuses is renewed at most. An API
// that refuses every token would otherwise cause a storm of requests.
const forcedPause = time.Minute

// choose returns the stored tokens if they are good, and renews them otherwise. Tokens
// are good if they last o.MinLife and are not o.Rejected. Good tokens that expire soon
// are renewed as renewEarly does. If the renewal fails for now, choose returns stored
// tokens that last o.MinLife, or are still valid if that is 0, unless they are
// o.Rejected. With o.ReadOnly it makes no request, and returns ErrRefresh for tokens that
// would have to be renewed. Its errors are ErrReconnect, ErrRefresh, and those of the
// store and of ctx.
func (v *Vault) choose(ctx context.Context, p *Provider, at *opened, o Options) (storage.Tokens, error) {
	now := v.Now()
	life := lasting(&at.tokens, now)
	usable := at.tokens.AccessToken != "" && life >= minLife(o)
	isRejected := o.Rejected != "" && o.Rejected == at.tokens.AccessToken
	switch {
	case !isRejected && usable && (o.ReadOnly || life > v.earlyFor(&at.tokens)):
		return at.tokens, nil
	case o.ReadOnly && p.canRenew(at, now):
		return storage.Tokens{}, failure.WrapFor(fault.ErrRefresh, at.row.Provider, errReadOnly)
	case isRejected:
		return v.replaceRejected(ctx, p, at)
	case usable:
		return v.renewEarly(ctx, p, at, o)
	}
	renewed, err := v.join(ctx, p, at)
	if err != nil && isPassing(err) && at.tokens.AccessToken != "" && life > 0 && o.MinLife <= life {
		return at.tokens, nil // an access token that is still valid is better than an error
	}
	return renewed, err
}

// minLife returns how long a token must last at least: o.MinLife, or defaultMinLife
// unless that is positive.
func minLife(o Options) time.Duration {
	if o.MinLife <= 0 {
		return defaultMinLife
	}
	return o.MinLife
}

// endless is the lifetime of a token whose expiry is not known.
const endless = 10 * 365 * 24 * time.Hour

// lasting returns how long an access token is still valid. It is negative after its
// expiry, and endless for a token whose expiry is not known.
func lasting(t *storage.Tokens, now time.Time) time.Duration {
	if t.ExpiresAt.IsZero() {
		return endless
	}
	return t.ExpiresAt.Sub(now)
}

// earlyFor returns how long before its expiry a token is renewed: Early, but at most a
// fifth of its lifetime.
func (v *Vault) earlyFor(t *storage.Tokens) time.Duration {
	if life := LifetimeOf(t); life > 0 {
		return min(v.Early, life/5)
	}
	return v.Early
}

// renewEarly begins to renew a token that is still good, and returns the old token at
// once. With Foreground or o.Wait it waits for the new token, and returns the old one if
// the renewal fails. It begins nothing if the token cannot be renewed, in the pause after
// a failure, and if mayRenewEarly forbids it. Its error is always nil.
func (v *Vault) renewEarly(ctx context.Context, p *Provider, at *opened, o Options) (storage.Tokens, error) {
	if !p.canRenew(at, v.Now()) || v.memoryOf(at.key()).isPaused(v.Now()) || !v.mayRenewEarly(at) {
		return at.tokens, nil
	}
	f := v.begin(p, at)
	if !v.Foreground && !o.Wait {
		return at.tokens, nil
	}
	renewed, err := f.wait(ctx)
	if err != nil {
		return at.tokens, nil
	}
	return renewed, nil
}

// mayRenewEarly reports whether a token may be renewed early now. A token without a known
// lifetime, which may be shorter than Early, is renewed early only once in Early: for
// such a token mayRenewEarly records the time.
func (v *Vault) mayRenewEarly(at *opened) bool {
	if LifetimeOf(&at.tokens) > 0 {
		return true
	}
	m, now := v.memoryOf(at.key()), v.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if now.Sub(m.early) < v.Early {
		return false
	}
	m.early = now
	return true
}

// replaceRejected renews a token that an API has refused, at most once a minute for an
// account. Within the minute it joins a renewal that is under way, returns the tokens of
// one that has ended since at was read, or returns ErrRefresh with the code
// "rejected_again". It returns ErrReconnect if the token cannot be renewed. Other errors
// are those of join and of readNewer.
func (v *Vault) replaceRejected(ctx context.Context, p *Provider, at *opened) (storage.Tokens, error) {
	if !p.canRenew(at, v.Now()) {
		return storage.Tokens{}, reconnect(at, "")
	}
	m, now := v.memoryOf(at.key()), v.Now()
	m.mu.Lock()
	left := forcedPause - now.Sub(m.forced)
	if left <= 0 {
		m.forced = now
	}
	m.mu.Unlock()
	if left <= 0 || v.flightOf(at.key()) != nil {
		return v.join(ctx, p, at)
	}
	newer, err := (&renewal{Vault: v, provider: p, at: at}).readNewer(ctx)
	if err != nil || newer != nil && newer.tokens.AccessToken != at.tokens.AccessToken {
		return tokensOf(newer), err
	}
	return storage.Tokens{}, failure.WrapFor(fault.ErrRefresh, at.row.Provider, &fault.TokenError{Code: "rejected_again", RetryAfter: left})
}

// join waits for the renewal of the account that is under way, or begins one and waits
// for it. It returns ErrReconnect if the tokens cannot be renewed, ErrRefresh in the
// pause after a failure, and otherwise the error of the renewal or of ctx. The end of ctx
// does not end the renewal.
func (v *Vault) join(ctx context.Context, p *Provider, at *opened) (storage.Tokens, error) {
	if !p.canRenew(at, v.Now()) {
		return storage.Tokens{}, reconnect(at, "")
	}
	if err := v.memoryOf(at.key()).paused(v.Now(), at.row.Provider); err != nil {
		return storage.Tokens{}, err
	}
	return v.begin(p, at).wait(ctx)
}

// canRenew reports whether the tokens can be renewed: they have a refresh token, or with
// ByAccessToken an access token that is still valid.
func (p *Provider) canRenew(at *opened, now time.Time) bool {
	return at.tokens.RefreshToken != "" || p.ByAccessToken && at.tokens.AccessToken != "" && lasting(&at.tokens, now) > 0
}

// reconnect returns the ErrReconnect for an account that only its user can connect again.
// code is the reason that the provider gave; empty: none.
func reconnect(at *opened, code string) error {
	return failure.WrapFor(fault.ErrReconnect, at.row.Provider, &fault.TokenError{Code: code})
}

// isPaused reports whether no request may be made yet, because of a pause after a
// failure.
func (m *memory) isPaused(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return now.Before(m.retry)
}

// paused returns nil if a request may be made. In a pause it returns the failure that
// began the pause as ErrRefresh, with the time that is left as RetryAfter.
func (m *memory) paused(now time.Time, provider string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !now.Before(m.retry) {
		return nil
	}
	cause := fault.TokenError{}
	if told, ok := errors.AsType[*fault.TokenError](m.failed); ok {
		cause = *told
	}
	cause.RetryAfter = m.retry.Sub(now)
	return failure.WrapFor(fault.ErrRefresh, provider, &cause)
}

// The pauses after a passing failure that names none, and the longest that is
// believed.
const (
	firstPause = time.Second
	mostPause  = time.Minute
	mostAsked  = 15 * time.Minute
)

// pauseAfter remembers a passing failure and begins a pause, in which no request may be
// made. The pause lasts for asked, if the provider has asked for one, up to mostAsked. If
// asked is 0, it is twice as long as the last one, between firstPause and mostPause.
func (m *memory) pauseAfter(err error, asked time.Duration, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pause = min(max(2*m.pause, firstPause), mostPause); asked > 0 {
		m.pause = min(asked, mostAsked)
	}
	m.retry, m.failed = now.Add(m.pause), err
}

// resume ends the pause and forgets the failure that it followed.
func (m *memory) resume() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.retry, m.pause, m.failed = time.Time{}, 0, nil
}

// isPassing reports whether the same call may succeed later: err is ErrRefresh or
// ErrAdapter.
func isPassing(err error) bool {
	return errors.Is(err, fault.ErrRefresh) || errors.Is(err, fault.ErrAdapter)
}

// Inherit makes what this process remembers of an account under its former id count for
// its new id, too. It changes nothing if this process remembers the new id already.
func (v *Vault) Inherit(provider, former, id string) {
	v.memories.GetOrAdd(accountKey{provider, id}, v.memoryOf(accountKey{provider, former}))
}
