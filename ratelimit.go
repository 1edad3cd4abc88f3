package latchkey

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// rateLimits keep strangers from guessing passwords and flooding mailboxes.
type rateLimits struct {
	off     bool
	tenant  string // what is counted at one tenant says nothing at another
	limiter storage.Limiter

	triesPerAccount, triesPerClient   Rate
	mailsPerRecipient, mailsPerClient Rate
	linkTries                         Rate

	proxySeen sync.Once
}

func newRateLimits(c Limits, tenant string, limiter storage.Limiter) *rateLimits {
	l := &rateLimits{
		off: c.Disabled, tenant: tenant, limiter: limiter,
		triesPerAccount: c.CredentialsPerAccount, triesPerClient: c.CredentialsPerClient,
		mailsPerRecipient: c.MailsPerRecipient, mailsPerClient: c.MailsPerClient, linkTries: c.LinkTries,
	}
	fill.Default(&l.triesPerAccount, Rate{Events: 20, Per: 15 * time.Minute})
	fill.Default(&l.triesPerClient, Rate{Events: 100, Per: 15 * time.Minute})
	fill.Default(&l.mailsPerRecipient, Rate{Events: 5, Per: 15 * time.Minute})
	fill.Default(&l.mailsPerClient, Rate{Events: 30, Per: time.Hour})
	fill.Default(&l.linkTries, Rate{Events: 5, Per: 15 * time.Minute})
	return l
}

// asker is who wants something that is counted.
type asker struct {
	client  string // IP address; empty: unknown, and not counted
	browser string // id of a browser that has signed in there before; empty: a stranger's
}

// budget is what an event is counted under, and how often it may happen.
type budget struct {
	key      string
	rate     Rate
	byClient bool
}

// tries are the budgets of a try at an account; empty: none was named.
func (l *rateLimits) tries(account string, who asker) []budget {
	return budgets("try", account, l.triesPerAccount, who, l.triesPerClient)
}

// mails are the budgets of a mail to a mailbox.
func (l *rateLimits) mails(email string, who asker) []budget {
	return budgets("mail", mailKey(email), l.mailsPerRecipient, who, l.mailsPerClient)
}

// usedMails are the budgets that a mail gives back whose link was used: the
// mailbox's alone. Anybody may open links to mailboxes of their own, and would
// pay with them for mails to others.
func (l *rateLimits) usedMails(email string, who asker) []budget {
	return slices.DeleteFunc(l.mails(email, who), func(b budget) bool { return b.byClient })
}

// redemptions are the budgets of a try at the links of a mailbox; empty: they
// cannot be guessed.
func (l *rateLimits) redemptions(email string, who asker) []budget {
	key := ""
	if email != "" {
		key = "link:" + email
	}
	return budgets("try", key, l.linkTries, who, l.triesPerClient)
}

// questions are the budgets of somebody who asks whether an e-mail address has
// passkeys.
func (l *rateLimits) questions(who asker) []budget {
	return budgets("ask", "", Rate{}, who, l.triesPerClient)
}

// answers are the budgets of a passkey's answer, apart from those of passwords:
// who guesses one takes nothing of the other.
func (l *rateLimits) answers(who asker) []budget {
	return budgets("passkey", "", Rate{}, who, l.triesPerClient)
}

// mailKey is what mails to a mailbox are counted under.
func mailKey(email string) string { return "mail:" + email }

// budgets are the client's and then the target's: a client that is over its own
// takes nothing of others'. A browser that has signed in to the target before
// has one of its own instead, which no stranger can use up.
func budgets(kind, target string, perTarget Rate, who asker, perClient Rate) (all []budget) {
	if who.browser != "" && target != "" {
		return []budget{{key: "browser:" + who.browser + ":" + target, rate: perTarget}}
	}
	if key := clientKey(kind, who.client); key != "" {
		all = append(all, budget{key, perClient, true})
	}
	if target != "" {
		all = append(all, budget{key: target, rate: perTarget})
	}
	return all
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

// admit counts an event before it happens, so that parallel ones cannot slip
// by: under all budgets, or, where one is used up, under none. It says how long
// to wait; zero: go on.
func (l *rateLimits) admit(ctx context.Context, all []budget) (wait time.Duration, err error) {
	if l.off {
		return 0, nil
	}
	asking := ctx
	if len(all) > 0 && all[0].byClient {
		asking = withClient(ctx, all[0].key)
	}
	for i, b := range all {
		wait, err = guarded.ContainResult(func() (time.Duration, error) { return l.limiter.Take(asking, l.hash(b.key), b.rate) })
		if err == nil && wait <= 0 {
			continue
		}
		if undo := l.giveBack(ctx, all[:i]); err == nil {
			err = undo
		}
		return wait, err
	}
	return 0, nil
}

// giveBack takes back what admit has counted, where the limiter is able.
func (l *rateLimits) giveBack(ctx context.Context, all []budget) error {
	able, ok := l.limiter.(storage.ReturningLimiter)
	if l.off || !ok {
		return nil
	}
	for _, b := range all {
		if err := guarded.Contain(func() error { return able.Return(ctx, l.hash(b.key), b.rate) }); err != nil {
			return err
		}
	}
	return nil
}

// forgive is for a try that was right: it forgets the failed ones at the
// account, and takes back the one of the client, whose other tries stay: one
// right password must not buy a hundred guesses.
func (l *rateLimits) forgive(ctx context.Context, all []budget) error {
	if l.off {
		return nil
	}
	for i, b := range all {
		forget := func() error { return l.limiter.Forget(ctx, l.hash(b.key)) }
		if b.byClient {
			forget = func() error { return l.giveBack(ctx, all[i:i+1]) }
		}
		if err := guarded.Contain(forget); err != nil {
			return err
		}
	}
	return nil
}

// hash keeps names and e-mail addresses out of the limiter's store.
func (l *rateLimits) hash(key string) string {
	if l.tenant != "" {
		key = l.tenant + "\x00" + key
	}
	return secret.Hash(key)
}
