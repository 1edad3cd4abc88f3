package latchkey

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"
)

// limits keeps strangers from guessing passwords and flooding mailboxes.
type limits struct {
	off     bool
	limiter Limiter

	triesPerAccount, triesPerClient Rate
	mailsPerAddress, mailsPerClient Rate
}

// checkLimits refuses numbers that would switch a limit off without saying so.
func (s *setup) checkLimits(f *faults) {
	l := s.Config.Limits
	for _, r := range []struct {
		field string
		rate  Rate
	}{
		{"CredentialsPerAccount", l.CredentialsPerAccount},
		{"CredentialsPerClient", l.CredentialsPerClient},
		{"MailsPerAddress", l.MailsPerAddress},
		{"MailsPerClient", l.MailsPerClient},
	} {
		if (r.rate != Rate{}) && (r.rate.Events <= 0 || r.rate.Per <= 0) {
			f.add(ErrInvalidConfig, "Limits.%s: want both Events and Per above zero, or neither for the default; Limits.Disabled switches limits off", r.field)
		}
	}
	if l.Body < 0 || l.Upstream < 0 || l.Call < 0 || l.Callback < 0 || l.Store < 0 {
		f.add(ErrInvalidConfig, "Limits: Body, Upstream, Call, Callback and Store must not be negative; zero is the default")
	}
}

func newLimits(s *setup) *limits {
	c := s.Limits
	l := &limits{
		off: c.Disabled, limiter: c.Limiter,
		triesPerAccount: c.CredentialsPerAccount, triesPerClient: c.CredentialsPerClient,
		mailsPerAddress: c.MailsPerAddress, mailsPerClient: c.MailsPerClient,
	}
	setDefault(&l.triesPerAccount, Rate{20, 15 * time.Minute})
	setDefault(&l.triesPerClient, Rate{100, 15 * time.Minute})
	setDefault(&l.mailsPerAddress, Rate{5, 15 * time.Minute})
	setDefault(&l.mailsPerClient, Rate{30, time.Hour})
	if l.limiter == nil {
		l.limiter = NewMemoryLimiter(s.now)
	}
	return l
}

// admitTry counts a try before it is made, so that parallel ones cannot slip
// by, and refuses it with the answer of a wrong password.
func (l *limits) admitTry(ctx context.Context, v *visit, p *credentialsProvider, fields map[string]string) ([]string, error) {
	if l.off {
		return nil, nil
	}
	var keys []string
	for _, c := range []struct {
		key  string
		rate Rate
	}{{p.accountKey(fields), l.triesPerAccount}, {clientKey("try", v), l.triesPerClient}} {
		if c.key == "" {
			continue
		}
		wait, err := l.take(ctx, c.key, c.rate)
		if err != nil {
			return nil, err
		}
		if wait > 0 {
			v.log.error(v, ErrCredentialsSignin.at(p.ID, errors.New("too many tries")))
			return nil, v.tooManyTries(wait)
		}
		keys = append(keys, c.key)
	}
	return keys, nil
}

// tooManyTries looks like a wrong password to a person; a script is told when to
// come back.
func (v *visit) tooManyTries(wait time.Duration) error {
	if !v.wantsJSON() {
		return CredentialsError("")
	}
	res := asJSON(v.renderError(CredentialsError("")))
	res.Status = http.StatusTooManyRequests
	res.Header.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	return RespondWith(res)
}

// forgive forgets the failed tries of an account that has signed in. Those of
// the client stay: one right password must not buy a hundred guesses.
func (l *limits) forgive(ctx context.Context, v *visit, keys []string) {
	for _, key := range keys {
		if key == clientKey("try", v) {
			continue
		}
		if err := contain(func() error { return l.limiter.Forget(ctx, hashKey(key)) }); err != nil {
			v.log.error(v, ErrCallbackRoute.because(err))
		}
	}
}

// admitMail says whether one more link may be sent.
func (l *limits) admitMail(ctx context.Context, v *visit, address string) (bool, error) {
	if l.off {
		return true, nil
	}
	wait, err := l.take(ctx, "mail:"+address, l.mailsPerAddress)
	if client := clientKey("mail", v); client != "" && err == nil && wait <= 0 {
		wait, err = l.take(ctx, client, l.mailsPerClient)
	}
	if wait > 0 {
		v.log.error(v, ErrEmailSignIn.because(errors.New("too many links asked for")))
	}
	return wait <= 0, err
}

// clientKey is what a client is counted under: its address, or the network that
// one IPv6 subscriber gets, whose addresses are all theirs to use.
func clientKey(kind string, v *visit) string {
	client := v.clientAddress(v.request)
	if client == "" {
		return ""
	}
	if addr, err := netip.ParseAddr(client); err == nil && addr.Is6() {
		network, _ := addr.WithZone("").Prefix(64) // fits every IPv6 address
		client = network.String()
	}
	return kind + "-client:" + client
}

func (l *limits) take(ctx context.Context, key string, r Rate) (wait time.Duration, err error) {
	return containResult(func() (time.Duration, error) { return l.limiter.Take(ctx, hashKey(key), r) })
}

// hashKey keeps names and addresses out of the limiter's store.
func hashKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// MemoryLimiter is a [Limiter] in this process's memory. It remembers the
// 100,000 keys that were used last. Make one with [NewMemoryLimiter].
type MemoryLimiter struct {
	now func() time.Time

	mu      sync.Mutex
	buckets map[string]*list.Element // of *bucket
	recent  list.List                // most recent first
}

// bucket counts one key by the generic cell rate algorithm: every event fills
// it by its share of the period, and it empties with time.
type bucket struct {
	key  string
	full time.Time // when it will be empty again
}

const mostBuckets = 100_000

// NewMemoryLimiter returns an empty limiter. now tells the time; nil: time.Now.
func NewMemoryLimiter(now func() time.Time) *MemoryLimiter {
	if now == nil {
		now = time.Now
	}
	return &MemoryLimiter{now: now, buckets: map[string]*list.Element{}}
}

// Take counts one event under key; see [Limiter].
func (l *MemoryLimiter) Take(_ context.Context, key string, r Rate) (time.Duration, error) {
	if r.Events <= 0 || r.Per <= 0 {
		return 0, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.bucket(key)
	each := r.Per / time.Duration(r.Events)
	full := b.full
	if full.Before(now) {
		full = now
	}
	if wait := full.Add(each).Sub(now.Add(r.Per)); wait > 0 {
		return wait, nil
	}
	b.full = full.Add(each)
	return 0, nil
}

// Forget clears what was counted under key.
func (l *MemoryLimiter) Forget(_ context.Context, key string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.buckets[key]; ok {
		l.recent.Remove(e)
		delete(l.buckets, key)
	}
	return nil
}

// bucket finds or makes the bucket of key, and drops the one used longest ago.
func (l *MemoryLimiter) bucket(key string) *bucket {
	if e, ok := l.buckets[key]; ok {
		l.recent.MoveToFront(e)
		return e.Value.(*bucket)
	}
	if len(l.buckets) >= mostBuckets {
		oldest := l.recent.Back()
		l.recent.Remove(oldest)
		delete(l.buckets, oldest.Value.(*bucket).key)
	}
	b := &bucket{key: key}
	l.buckets[key] = l.recent.PushFront(b)
	return b
}

// usedValues is a OneTimeStore in memory: two generations of keys, so that
// dropping the old costs nothing.
type usedValues struct {
	now func() time.Time

	mu       sync.Mutex
	young    map[string]time.Time
	old      map[string]time.Time
	turnedAt time.Time
}

const mostUsed = 100_000

func newUsedValues(now func() time.Time) *usedValues {
	return &usedValues{now: now, young: map[string]time.Time{}}
}

func (u *usedValues) Use(_ context.Context, key string, expires time.Time) (bool, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.now()
	if len(u.young) >= mostUsed || now.Sub(u.turnedAt) > checkMaxAge+time.Minute {
		u.old, u.young, u.turnedAt = u.young, map[string]time.Time{}, now
	}
	if u.young[key].After(now) || u.old[key].After(now) {
		return false, nil
	}
	u.young[key] = expires
	return true, nil
}
