package latchkey

import (
	"context"
	"net/netip"
	"time"
)

// rateLimits keep strangers from guessing passwords and flooding mailboxes.
type rateLimits struct {
	off     bool
	tenant  string // what is counted at one tenant says nothing at another
	limiter Limiter

	triesPerAccount, triesPerClient   Rate
	mailsPerRecipient, mailsPerClient Rate
}

func newRateLimits(c Limits, tenant string, limiter Limiter) *rateLimits {
	l := &rateLimits{
		off: c.Disabled, tenant: tenant, limiter: limiter,
		triesPerAccount: c.CredentialsPerAccount, triesPerClient: c.CredentialsPerClient,
		mailsPerRecipient: c.MailsPerRecipient, mailsPerClient: c.MailsPerClient,
	}
	setDefault(&l.triesPerAccount, Rate{20, 15 * time.Minute})
	setDefault(&l.triesPerClient, Rate{100, 15 * time.Minute})
	setDefault(&l.mailsPerRecipient, Rate{5, 15 * time.Minute})
	setDefault(&l.mailsPerClient, Rate{30, time.Hour})
	return l
}

// admitTry counts a try before it is made, so that parallel ones cannot slip
// by. It says how long to wait; zero: go on. account is the key of what was
// typed, client the IP address; either may be empty, and is not counted then.
func (l *rateLimits) admitTry(ctx context.Context, account, client string) (wait time.Duration, err error) {
	if account != "" {
		wait, err = l.take(ctx, account, l.triesPerAccount)
	}
	if key := clientKey("try", client); key != "" && err == nil && wait <= 0 {
		wait, err = l.take(ctx, key, l.triesPerClient)
	}
	return wait, err
}

// forgive forgets the failed tries of an account that has signed in. Those of
// the client stay: one right password must not buy a hundred guesses.
func (l *rateLimits) forgive(ctx context.Context, account string) error {
	if l.off || account == "" {
		return nil
	}
	return contain(func() error { return l.limiter.Forget(ctx, l.hash(account)) })
}

// admitMail counts one more link, and says how long to wait; zero: send it.
func (l *rateLimits) admitMail(ctx context.Context, email, client string) (wait time.Duration, err error) {
	wait, err = l.take(ctx, "mail:"+email, l.mailsPerRecipient)
	if key := clientKey("mail", client); key != "" && err == nil && wait <= 0 {
		wait, err = l.take(ctx, key, l.mailsPerClient)
	}
	return wait, err
}

// clientKey is what a client is counted under: its IP address, or the network
// that one IPv6 subscriber gets, whose addresses are all theirs to use.
func clientKey(kind, client string) string {
	if client == "" {
		return ""
	}
	if addr, err := netip.ParseAddr(client); err == nil && addr.Is6() {
		network, _ := addr.Prefix(64) // fits every IPv6 address
		client = network.String()
	}
	return kind + "-client:" + client
}

func (l *rateLimits) take(ctx context.Context, key string, r Rate) (time.Duration, error) {
	if l.off {
		return 0, nil
	}
	return containResult(func() (time.Duration, error) { return l.limiter.Take(ctx, l.hash(key), r) })
}

// hash keeps names and e-mail addresses out of the limiter's store.
func (l *rateLimits) hash(key string) string {
	if l.tenant != "" {
		key = l.tenant + "\x00" + key
	}
	return hashText(key)
}
