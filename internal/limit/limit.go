// Package limit counts what an unauthenticated client may cause: sign-in
// attempts, mails, and single-use values. It decides which budgets an event is
// counted under; a storage.Limiter counts.
package limit

import (
	"cmp"
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/fold"
	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/storage"
)

// Rates are the limits of each kind of event. A zero Rate is the default.
type Rates struct {
	AttemptsPerAccount storage.Rate // 20 in 15 minutes
	AttemptsPerClient  storage.Rate // 100 in 15 minutes
	MailsPerRecipient  storage.Rate // 5 in 15 minutes
	MailsPerClient     storage.Rate // 30 in an hour
	LinkAttempts       storage.Rate // 5 in 15 minutes
	Factors            storage.Rate // 10 in an hour
}

// Limits keeps attackers from guessing passwords and flooding mailboxes. It is
// safe for concurrent use.
type Limits struct {
	rates  Rates
	off    bool
	keys   *keys.Keys
	here   *Memory
	shared *Shared // nil: this process counts alone

	refused func(ctx context.Context, field string, shared bool) // nil: refusals are not counted
}

// OnRefusal has f called each time a budget refuses an event, with the name of its field
// of latchkey.Limits. Targets with a fixed rate have no field: f is not called for them.
// shared tells f that all instances count the budget, and not this process alone. Call
// OnRefusal before l is used. f may be nil.
func (l *Limits) OnRefusal(f func(ctx context.Context, field string, shared bool)) { l.refused = f }

// New returns the limits of a configuration, with the default for each zero Rate. They
// count under keys of k, so that what one configuration counts does not count for
// another. They count in shared, or in here if shared is nil. here must not be nil. With
// off nothing is counted and nothing is refused.
func New(rates Rates, off bool, k *keys.Keys, here *Memory, shared *Shared) *Limits {
	fill.Default(&rates.AttemptsPerAccount, storage.Rate{Events: 20, Per: 15 * time.Minute})
	fill.Default(&rates.AttemptsPerClient, storage.Rate{Events: 100, Per: 15 * time.Minute})
	fill.Default(&rates.MailsPerRecipient, storage.Rate{Events: 5, Per: 15 * time.Minute})
	fill.Default(&rates.MailsPerClient, storage.Rate{Events: 30, Per: time.Hour})
	fill.Default(&rates.LinkAttempts, storage.Rate{Events: 5, Per: 15 * time.Minute})
	fill.Default(&rates.Factors, storage.Rate{Events: 10, Per: time.Hour})
	return &Limits{rates: rates, off: off, keys: k, here: here, shared: shared}
}

// Off reports whether limits are switched off: nothing is counted or refused.
func (l *Limits) Off() bool { return l.off }

// LinkAttempts returns the rate of attempts at the links of one mailbox.
func (l *Limits) LinkAttempts() storage.Rate { return l.rates.LinkAttempts }

// Requester is the client that causes an event.
type Requester struct {
	Client  string // IP address; empty: unknown, and not counted
	Browser string // id of a browser that is known for the target; empty: it is not
}

// budget is a key that an event is counted under, and its rate. The zero budget
// counts nothing.
type budget struct {
	key  string
	rate storage.Rate
}

// Event is something that is counted before it happens, under the budgets of its client
// and of its target. The methods of Limits that return one count nothing: Take does. An
// event of an unknown client counts for its target alone.
type Event struct {
	network string // of the client
	client  budget
	target  budget
	// own is the budget of a browser that is known for the target. It counts
	// while the target's budget is used up, which attackers can cause.
	own budget

	// clientField and field are the fields of latchkey.Limits that set the rates of client
	// and target, for OnRefusal. Empty: OnRefusal is not told of refusals.
	clientField, field string
}

// Attempt returns the event of a sign-in attempt at an account of a provider. account is
// the name that was typed, in any spelling. If it is empty, the event counts for the
// client alone.
func (l *Limits) Attempt(provider, account string, r Requester) Event {
	e := l.event(keys.TriesOfClient, l.rates.AttemptsPerClient, r)
	if account != "" && !l.off {
		e.target = budget{l.keys.Of(keys.TriesOfAccount, provider, fold.Name(account)), l.rates.AttemptsPerAccount}
		e.field = "CredentialsPerAccount"
		e.own = l.own(keys.TriesOfBrowser, l.rates.AttemptsPerAccount, r)
	}
	return e
}

// knownBrowserRate is the rate of wrong passwords that one user may type in one
// browser that is known for the user, while the budget of all others is used up.
var knownBrowserRate = storage.Rate{Events: 10, Per: 15 * time.Minute}

// UserAttempt returns the event of a sign-in attempt by a password that the library
// keeps. Its target is the user with the id userID. An empty userID means that no user
// has the mailbox that was typed. The target is then the mailbox, in a budget that no
// user's sign-in touches. mailbox is the text by which the user was looked for. It is not
// folded any further: mailboxes of two users must not share a budget.
func (l *Limits) UserAttempt(userID, mailbox string, r Requester) Event {
	e := l.event(keys.TriesOfClient, l.rates.AttemptsPerClient, r)
	e.field = "CredentialsPerAccount"
	if userID == "" {
		e.target = budget{l.keys.Of(keys.TriesOfUser, "", mailbox), l.rates.AttemptsPerAccount}
		return e
	}
	e.target = budget{l.keys.Of(keys.TriesOfUser, userID), l.rates.AttemptsPerAccount}
	if r.Browser != "" {
		e.own = budget{l.keys.Of(keys.TriesOfUserHere, userID, r.Browser), knownBrowserRate}
	}
	return e
}

// PasswordRequest returns the event of a request that begins a sign-up, or a change
// that a mail confirms. It counts for the client alone.
func (l *Limits) PasswordRequest(r Requester) Event {
	return l.event(keys.PasswordRequests, l.rates.AttemptsPerClient, r)
}

// Asked returns the event of a request for a mail, whether or not a mail is sent. It
// counts for the client alone, so that the client cannot tell from its budget whether a
// user has the address.
func (l *Limits) Asked(r Requester) Event {
	return l.event(keys.MailsOfClient, l.rates.MailsPerClient, r)
}

// Mail returns the event of a mail to a mailbox. It counts for the client, in the budget of
// Asked, and for the mailbox, or for a browser known for it if the mailbox's is used up.
func (l *Limits) Mail(email string, r Requester) Event {
	e := l.event(keys.MailsOfClient, l.rates.MailsPerClient, r)
	e.target, e.field = l.mailbox(email), "MailsPerRecipient"
	e.own = l.own(keys.MailsOfBrowser, l.rates.MailsPerRecipient, r)
	return e
}

// CodeTry returns the event of a try at a code from a mail. It counts for the client and for
// the mailbox, which has 20 tries a day. Then a browser known for the mailbox has 20 more.
func (l *Limits) CodeTry(email string, r Requester) Event {
	rate := storage.Rate{Events: 20, Per: 24 * time.Hour}
	e := l.event(keys.TriesOfClient, l.rates.AttemptsPerClient, r)
	e.target = budget{l.keys.Of(keys.WrongCodes, fold.Name(email)), rate}
	e.own = l.own(keys.WrongCodesHere, rate, r)
	return e
}

// Notice returns the event of a mail that tells a user what has happened. A mailbox gets
// one mail of each kind in a day.
func (l *Limits) Notice(email, kind string) Event {
	return Event{target: budget{l.keys.Of(keys.NoticesToMailbox, email, kind), storage.Rate{Events: 1, Per: 24 * time.Hour}}}
}

// Export returns the event of a download of a user's own data: five in a day for a user.
func (l *Limits) Export(userID string) Event {
	return Event{target: budget{l.keys.Of(keys.ExportsOfUser, userID), storage.Rate{Events: 5, Per: 24 * time.Hour}}}
}

// ChangeFor returns the event of a change of a user's address that staff asks for: three
// in a day for a user, because each sends a mail to the former mailbox.
func (l *Limits) ChangeFor(userID string) Event {
	return Event{target: budget{l.keys.Of(keys.ChangesForUser, userID), storage.Rate{Events: 3, Per: 24 * time.Hour}}}
}

// Code returns the event of a mail with a short code. A mailbox gets one in a second, so
// that no two codes of it expire at the same second, and one is the newest.
func (l *Limits) Code(email string) Event {
	return Event{target: budget{l.keys.Of(keys.CodesToMailbox, email), storage.Rate{Events: 1, Per: time.Second}}}
}

// mailbox returns the budget of the mails to a mailbox.
func (l *Limits) mailbox(email string) budget {
	return budget{l.keys.Of(keys.MailsToMailbox, email), l.rates.MailsPerRecipient}
}

// Redemption returns the event of an attempt at the links of a mailbox. If email is
// empty, as for links that cannot be guessed, the event counts for the client alone.
func (l *Limits) Redemption(email string, r Requester) Event {
	e := l.event(keys.TriesOfClient, l.rates.AttemptsPerClient, r)
	if email != "" {
		e.target = budget{l.keys.Of(keys.LinksOfMailbox, fold.Name(email)), l.rates.LinkAttempts}
		e.field = "LinkTries"
		e.own = l.own(keys.LinksOfBrowser, l.rates.LinkAttempts, r)
	}
	return e
}

// RedemptionOf returns the event of an attempt at a link that only the browser which asked
// for it can use. hash is the hash of the link. The event counts for the client and for
// this link. It does not count for the mailbox, whose other links keep their attempts.
func (l *Limits) RedemptionOf(hash string, r Requester) Event {
	e := l.event(keys.TriesOfClient, l.rates.AttemptsPerClient, r)
	e.target = budget{l.keys.Of(keys.LinkOfBrowser, hash), l.rates.LinkAttempts}
	e.field = "LinkTries"
	return e
}

// Question returns the event of the question whether an e-mail address has passkeys. It
// counts for the client alone.
func (l *Limits) Question(r Requester) Event {
	return l.event(keys.PasskeyQuestions, l.rates.AttemptsPerClient, r)
}

// Answer returns the event of a passkey's answer to a challenge. It counts for the client
// alone, apart from passwords.
func (l *Limits) Answer(r Requester) Event {
	return l.event(keys.PasskeyAnswers, l.rates.AttemptsPerClient, r)
}

// event returns an event without a target. It is zero if the client is unknown.
func (l *Limits) event(kind keys.Kind, perClient storage.Rate, r Requester) Event {
	if r.Client == "" {
		return Event{}
	}
	field := "CredentialsPerClient"
	if kind == keys.MailsOfClient {
		field = "MailsPerClient"
	}
	return Event{network: widely(r.Client), client: budget{l.keys.Of(kind, narrowly(r.Client)), perClient}, clientField: field}
}

// own returns the budget of the browser of r. It is the zero budget if that browser is not
// known for the target.
func (l *Limits) own(kind keys.Kind, rate storage.Rate, r Requester) budget {
	if r.Browser == "" {
		return budget{}
	}
	return budget{l.keys.Of(kind, r.Browser), rate}
}

// Try is an event that was counted, or refused.
type Try struct {
	// Wait is how long to wait for the next try; 0: the event was counted.
	Wait time.Duration
	// Until is how long the budget of the target is used up; 0: it is not. If it is above 0
	// and Wait is 0, the event was counted for the known browser in place of the target. It
	// may then only end in a user that this browser is known for.
	Until time.Duration

	counted []counted
}

// IsOwn reports whether the event was counted for a known browser instead of the target,
// whose budget is used up. Until says what the caller must do then.
func (t *Try) IsOwn() bool { return t.Until > 0 && t.Wait == 0 }

// counted is a budget that an event was counted under.
type counted struct {
	budget
	here bool // this process has counted it, and not the shared limiter
}

// Take counts an event before it happens, so that parallel events cannot slip by. It
// counts under the client's budget and the target's. If one of them is used up, it counts
// under neither: a client over its own limit takes nothing from others. A known browser's
// own budget stands in for the target's if that is used up, and never for the client's. A
// refusal is no error: Wait of the Try is then above zero. If limits are off, Take
// returns the zero Try. Its error is that of ctx: if the shared limiter fails, this
// process counts.
func (l *Limits) Take(ctx context.Context, e Event) (t Try, err error) {
	if l.off {
		return t, nil
	}
	ctx = withClient(ctx, e.network)
	if t.Wait, err = l.take(ctx, e.client, e.clientField, &t); err != nil || t.Wait > 0 {
		return t, err
	}
	if t.Wait, err = l.take(ctx, e.target, e.field, &t); err == nil && t.Wait > 0 {
		t.Until = t.Wait
		if e.own.key != "" {
			t.Wait, err = l.take(ctx, e.own, "", &t)
		}
	}
	if err != nil || t.Wait > 0 {
		err = cmp.Or(err, l.Return(ctx, t))
		t.counted = nil
	}
	return t, err
}

// take counts an event under b, adds b to t and returns zero. If b is used up, it counts
// nothing and returns how long to wait. It reports that refusal to l.refused, unless field
// is empty. The zero budget counts nothing.
func (l *Limits) take(ctx context.Context, b budget, field string, t *Try) (time.Duration, error) {
	if b.key == "" {
		return 0, nil
	}
	here, wait, err := l.count(ctx, b)
	switch {
	case err != nil:
		return wait, err
	case wait <= 0:
		t.counted = append(t.counted, counted{budget: b, here: here})
		return 0, nil
	case l.refused != nil && field != "":
		l.refused(ctx, field, !here)
	}
	return wait, nil
}

// Return takes back the event that Take has counted for t, and nothing else: a success
// does not forgive the failures of others under the same name. It does nothing for a Try
// that was refused. Limiters that cannot return an event keep it, which is no error.
func (l *Limits) Return(ctx context.Context, t Try) error {
	for _, c := range t.counted {
		if err := l.giveBack(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// ReturnMail takes one earlier mail back from the budget of a mailbox, because its link
// was used. The mail stays in the client's budget: a client can open links to its own
// mailboxes, and must not earn mails to others by it. A mail that was counted for a known
// browser stays counted there, so that no more mails are given back than were sent.
func (l *Limits) ReturnMail(ctx context.Context, email string) error {
	if l.off {
		return nil
	}
	b := l.mailbox(email)
	return l.giveBack(ctx, counted{budget: b, here: l.shared == nil || l.here.counts(b.key)})
}
