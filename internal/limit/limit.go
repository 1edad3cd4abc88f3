// Package limit counts what an unauthenticated client may cause: sign-in
// attempts, mails, and single-use values. It decides which budgets an event is
// counted under; a storage.Limiter counts.
package limit

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// Rates are the limits of each kind of event. A zero Rate is the default.
type Rates struct {
	AttemptsPerAccount storage.Rate // 20 in 15 minutes
	AttemptsPerClient  storage.Rate // 100 in 15 minutes
	MailsPerRecipient  storage.Rate // 5 in 15 minutes
	MailsPerClient     storage.Rate // 30 in an hour
	LinkAttempts       storage.Rate // 5 in 15 minutes
}

// Limits keeps attackers from guessing passwords and flooding mailboxes. It is
// safe for concurrent use.
type Limits struct {
	rates   Rates
	off     bool
	tenant  string
	limiter storage.Limiter
}

// New returns the limits of a tenant. What is counted for one tenant does not
// count for another; an empty tenant is a site without tenants. With off nothing
// is counted.
func New(rates Rates, off bool, tenant string, limiter storage.Limiter) *Limits {
	fill.Default(&rates.AttemptsPerAccount, storage.Rate{Events: 20, Per: 15 * time.Minute})
	fill.Default(&rates.AttemptsPerClient, storage.Rate{Events: 100, Per: 15 * time.Minute})
	fill.Default(&rates.MailsPerRecipient, storage.Rate{Events: 5, Per: 15 * time.Minute})
	fill.Default(&rates.MailsPerClient, storage.Rate{Events: 30, Per: time.Hour})
	fill.Default(&rates.LinkAttempts, storage.Rate{Events: 5, Per: 15 * time.Minute})
	return &Limits{rates: rates, off: off, tenant: tenant, limiter: limiter}
}

// Off reports whether nothing is counted.
func (l *Limits) Off() bool { return l.off }

// LinkAttempts returns the rate of attempts at the links of one mailbox.
func (l *Limits) LinkAttempts() storage.Rate { return l.rates.LinkAttempts }

// Requester is the client that causes an event.
type Requester struct {
	Client  string // IP address; empty: unknown, and not counted
	Browser string // id of a browser that has signed in to the target before; empty: it has not
}

// Budget is a key that an event is counted under, and its rate.
type Budget struct {
	key      string
	rate     storage.Rate
	byClient bool
}

// Attempts returns the budgets of a sign-in attempt at an account. An empty
// account counts for the client alone.
func (l *Limits) Attempts(account string, r Requester) []Budget {
	return budgets("try", account, l.rates.AttemptsPerAccount, r, l.rates.AttemptsPerClient)
}

// Mails returns the budgets of a mail to a mailbox.
func (l *Limits) Mails(email string, r Requester) []Budget {
	return budgets("mail", MailKey(email), l.rates.MailsPerRecipient, r, l.rates.MailsPerClient)
}

// UsedMails returns the budgets that are refunded when the link of a mail is used:
// the mailbox's alone. A client can open links to its own mailboxes, and must not
// earn mails to others by it.
func (l *Limits) UsedMails(email string, r Requester) []Budget {
	return slices.DeleteFunc(l.Mails(email, r), func(b Budget) bool { return b.byClient })
}

// Redemptions returns the budgets of an attempt at the links of a mailbox. An
// empty email is for links that cannot be guessed.
func (l *Limits) Redemptions(email string, r Requester) []Budget {
	key := ""
	if email != "" {
		key = "link:" + email
	}
	return budgets("try", key, l.rates.LinkAttempts, r, l.rates.AttemptsPerClient)
}

// Questions returns the budgets of the question whether an e-mail address has
// passkeys.
func (l *Limits) Questions(r Requester) []Budget {
	return budgets("ask", "", storage.Rate{}, r, l.rates.AttemptsPerClient)
}

// Answers returns the budgets of a passkey's answer. They are apart from those of
// passwords.
func (l *Limits) Answers(r Requester) []Budget {
	return budgets("passkey", "", storage.Rate{}, r, l.rates.AttemptsPerClient)
}

// MailKey returns the target that mails to a mailbox are counted under.
func MailKey(email string) string { return "mail:" + email }

// budgets returns the client's budget and then the target's, so that a client over
// its own limit takes nothing from others. A browser that has signed in to the
// target before has a budget of its own instead, which no attacker can use up.
func budgets(kind, target string, perTarget storage.Rate, r Requester, perClient storage.Rate) (all []Budget) {
	if r.Browser != "" && target != "" {
		return []Budget{{key: "browser:" + r.Browser + ":" + target, rate: perTarget}}
	}
	if key := clientKey(kind, r.Client); key != "" {
		all = append(all, Budget{key, perClient, true})
	}
	if target != "" {
		all = append(all, Budget{key: target, rate: perTarget})
	}
	return all
}

// clientKey returns the key of a client: its IP address, or the IPv6 network of
// one subscriber, who can use all of its addresses.
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

// Take counts an event before it happens, so that parallel events cannot slip by.
// It counts under all budgets and returns zero, or, if one is used up, it counts
// under none and returns how long to wait.
func (l *Limits) Take(ctx context.Context, all []Budget) (wait time.Duration, err error) {
	if l.off {
		return 0, nil
	}
	asking := ctx
	if len(all) > 0 && all[0].byClient {
		asking = withClient(ctx, all[0].key)
	}
	for i, b := range all {
		wait, err = guarded.ContainResult(func() (time.Duration, error) { return l.limiter.Take(asking, l.Hash(b.key), b.rate) })
		if err == nil && wait <= 0 {
			continue
		}
		if undo := l.Return(ctx, all[:i]); err == nil {
			err = undo
		}
		return wait, err
	}
	return 0, nil
}

// Return takes back what Take has counted, if the limiter can.
func (l *Limits) Return(ctx context.Context, all []Budget) error {
	able, ok := l.limiter.(storage.ReturningLimiter)
	if l.off || !ok {
		return nil
	}
	for _, b := range all {
		if err := guarded.Contain(func() error { return able.Return(ctx, l.Hash(b.key), b.rate) }); err != nil {
			return err
		}
	}
	return nil
}

// Forgive is for an attempt that was right. It forgets the failed attempts at the
// account and takes back this one of the client. The client's other attempts
// stay: one right password must not buy a hundred guesses.
func (l *Limits) Forgive(ctx context.Context, all []Budget) error {
	if l.off {
		return nil
	}
	for i, b := range all {
		forget := func() error { return l.limiter.Forget(ctx, l.Hash(b.key)) }
		if b.byClient {
			forget = func() error { return l.Return(ctx, all[i:i+1]) }
		}
		if err := guarded.Contain(forget); err != nil {
			return err
		}
	}
	return nil
}

// Hash returns the key under which a target is kept: it hides names and e-mail
// addresses from the limiter's store.
func (l *Limits) Hash(key string) string {
	if l.tenant != "" {
		key = l.tenant + "\x00" + key
	}
	return secret.Hash(key)
}
