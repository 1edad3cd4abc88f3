package directory

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// Users who have lost every second factor. The user asks after the first factor was
// right. The owner of the mailbox is told, and can stop it. After a delay a link removes
// the factors, in the browser that asked and after the first factor again.

const (
	lostLife   = 24 * time.Hour      // of the link
	lostRecord = 30 * 24 * time.Hour // for which a request is counted
	mostLost   = 3                   // requests of one user meanwhile
	lostPause  = 24 * time.Hour      // between two requests of one user: the owner is told of each
)

// ErrLostRefused reports that the factors of a user cannot be recovered by a delay: the
// address is not proven or has changed within 30 days, or there were too many requests.
var ErrLostRefused = errors.New("the second factors of this user cannot be removed after a delay now")

// Lost is a request to remove the factors of a user. It is the sealed part of its row,
// whose handle is Stop. BeginLost also stores a row without a Stop, which counts the request
// for 30 days, even after the request has ended.
type Lost struct {
	Stop     string    `json:"stop"`    // the secret of the link that stops it
	Link     string    `json:"link"`    // the secret of the link that removes the factors
	Browser  string    `json:"browser"` // hash of the handle that the browser keeps
	Email    string    `json:"email"`   // of the user at the time
	Language string    `json:"language"`
	Issued   time.Time `json:"issued"`
	Half     time.Time `json:"half"`  // when the owner is reminded
	Ready    time.Time `json:"ready"` // when the link begins to work

	UserID  string    `json:"-"` // set by the methods that return one
	Expires time.Time `json:"-"` // as UserID: the end of the link
	tries   int       // as UserID: the mails that were sent
}

// BeginLost stores a request to remove the factors of the user of a waiting sign-in after
// delay, in place of an earlier request. in is what the sign-in waits with, and browser
// the handle that the browser keeps. BeginLost removes no factor and sends no mail. It
// returns ErrLostRefused if the user may not ask now, and ErrNotPending if the user is
// gone or the user's sessions were ended since the first factor was proven. It adds the
// event RecoveryAsked.
func (d *Factors) BeginLost(ctx context.Context, q *Outbox, in Assertion, userID, browser, language string, delay time.Duration) (l Lost, err error) {
	err = q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) error {
		u, err := d.lockForLost(ctx, s, in, userID)
		if err != nil {
			return err
		}
		if err := d.mayBeginLost(ctx, s, &u); err != nil {
			return err
		}
		if _, err := d.endLost(ctx, s, u.ID); err != nil {
			return err
		}
		now, rows := d.Now(), d.Waiting(s)
		if _, err := rows.Create(ctx, challenge.Draft{Purpose: challenge.Lost, UserID: u.ID, Data: Lost{}, Life: lostRecord}); err != nil {
			return err
		}
		l = Lost{
			Stop: challenge.NewHandle(), Link: challenge.NewHandle(), Browser: secret.Hash(browser), Email: u.Email, Language: language,
			Issued: d.Revocations.IssueTime(u.ID, now), Half: now.Add(delay / 2), Ready: now.Add(delay),
			UserID: u.ID, Expires: now.Add(delay + lostLife),
		}
		_, err = rows.Create(ctx, challenge.Draft{Purpose: challenge.Lost, Handle: l.Stop, UserID: u.ID, Data: l, Life: delay + lostLife})
		q.Add(event.Event{Type: event.RecoveryAsked, UserID: u.ID}, nil)
		return err
	})
	return l, err
}

// lockForLost locks the user of a waiting sign-in. It returns ErrNotPending if the user
// is gone, or if the user's sessions were ended since the first factor was proven.
func (d *Factors) lockForLost(ctx context.Context, s *Store, in Assertion, userID string) (storage.User, error) {
	u, err := s.LockUser(ctx, userID)
	if err != nil {
		return u, notPendingIf(err)
	}
	if err := d.Revocations.Accept(ctx, s, &SignIn{Assertion: in, User: u}); errors.Is(err, ErrEnded) {
		return u, ErrNotPending
	} else if err != nil {
		return u, err
	}
	return u, nil
}

// mayBeginLost returns ErrLostRefused unless the user may ask now: the address is proven
// and did not move lately, and there were not too many requests.
func (d *Factors) mayBeginLost(ctx context.Context, s *Store, u *storage.User) error {
	if u.Email == "" || u.EmailVerified.IsZero() {
		return ErrLostRefused
	}
	moved, err := hasMoved(ctx, d.Directory, s, u.ID)
	if err != nil {
		return err
	}
	if moved {
		return ErrLostRefused
	}
	rows, err := d.Waiting(s).List(ctx, challenge.Lost, u.ID, "")
	if err != nil {
		return err
	}
	records := slices.DeleteFunc(rows, func(r *challenge.Row) bool {
		var l Lost
		return r.Read(&l) != nil || l.Stop != ""
	})
	if len(records) >= mostLost || len(records) > 0 && d.Now().Before(records[0].Created.Add(lostPause)) {
		return ErrLostRefused
	}
	return nil
}

// lostOf returns the requests of a user that are not void.
func (d *Factors) lostOf(ctx context.Context, s *Store, userID string) ([]Lost, error) {
	all, err := d.lostRows(ctx, s, userID)
	if err != nil {
		return nil, err
	}
	return d.notVoid(ctx, s, all)
}

// lostRows returns the requests of a user, or with an empty userID all of the tenant.
// Some may be void.
func (d *Factors) lostRows(ctx context.Context, s *Store, userID string) (all []Lost, err error) {
	rows, err := d.Waiting(s).List(ctx, challenge.Lost, userID, "")
	for _, row := range rows {
		if l, of := readLost(row); of == nil && l.Stop != "" {
			all = append(all, l)
		}
	}
	return all, err
}

// notVoid returns the requests that no end of their user's sessions has made void.
func (d *Factors) notVoid(ctx context.Context, s *Store, all []Lost) (live []Lost, err error) {
	for _, l := range all {
		void, err := d.Revocations.userVoidAt(ctx, s, l.UserID)
		if err != nil {
			return nil, err
		}
		if void.IsZero() || l.Issued.After(void) {
			live = append(live, l)
		}
	}
	return live, nil
}

// readLost decodes a request, and sets the fields that come from its row.
func readLost(row *challenge.Row) (l Lost, err error) {
	err = row.Read(&l)
	l.UserID, l.Expires, l.tries = row.UserID, row.Expires, row.Tries
	return l, err
}

// LostFor returns the latest request of a user that is under way, or nil.
func (d *Factors) LostFor(ctx context.Context, userID string) (*Lost, error) {
	all, err := d.lostOf(ctx, d.Store, userID)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// endLost removes the requests of a user that are not void, and returns how many there
// were.
func (d *Factors) endLost(ctx context.Context, s *Store, userID string) (ended int, err error) {
	all, err := d.lostOf(ctx, s, userID)
	for _, l := range all {
		if err == nil {
			err = d.Waiting(s).End(ctx, challenge.Lost, l.Stop)
		}
	}
	return len(all), err
}

// LookAtLost returns the request that a link stops, without stopping it. It returns
// ErrVerification if the request was stopped, replaced or completed, or has expired. It
// does not look whether the user's sessions were ended since.
func (d *Factors) LookAtLost(ctx context.Context, stop string) (Lost, error) {
	row, err := d.Waiting(d.Store).Get(ctx, challenge.Lost, stop)
	if err != nil {
		return Lost{}, voidIf(err)
	}
	return readLost(row)
}

// StopLost stops the request that a link names, and adds the event RecoveryStopped. It
// returns ErrVerification in the cases of LookAtLost. It stops the request even if the
// audit log does not take the event.
func (d *Factors) StopLost(ctx context.Context, q *Outbox, stop string) error {
	return q.InTxAnyway(ctx, d.Store, func(ctx context.Context, s *Store) error {
		row, err := d.Waiting(s).Take(ctx, challenge.Lost, stop)
		if err == nil {
			q.Add(event.Event{Type: event.RecoveryStopped, UserID: row.UserID}, nil)
		}
		return voidIf(err)
	})
}

// WithdrawLost stops a request whose owner could not be told of it, as [Factors.StopLost]
// does.
func WithdrawLost(ctx context.Context, d *Factors, q *Outbox, l *Lost) error {
	return d.StopLost(ctx, q, l.Stop)
}

// StopLostOf stops the requests of a user who has shown a second factor, or who wants them
// stopped in a session. It adds the event RecoveryStopped if there was one. s is the store of
// the transaction that this is part of. With a nil s it runs a transaction of its own, and
// stops them even if the audit log does not take the event. It does nothing for an empty
// userID, or if the site has no such delay.
func (d *Factors) StopLostOf(ctx context.Context, q *Outbox, s *Store, userID string) error {
	if d.Delay == 0 || userID == "" {
		return nil
	}
	if s == nil {
		if all, err := d.lostOf(ctx, d.Store, userID); err != nil || len(all) == 0 {
			return err
		}
		return q.InTxAnyway(ctx, d.Store, func(ctx context.Context, s *Store) error { return d.StopLostOf(ctx, q, s, userID) })
	}
	ended, err := d.endLost(ctx, s, userID)
	if ended > 0 {
		q.Add(event.Event{Type: event.RecoveryStopped, UserID: userID}, nil)
	}
	return err
}

// CanComplete returns the request of a user that a link can complete now, in the browser
// that keeps a handle. It returns ErrVerification if there is none, if the request is not
// due yet, or if userID or browser is empty. s is the store of the transaction that this
// is part of; nil: none.
func (d *Factors) CanComplete(ctx context.Context, s *Store, userID, link, browser string) (Lost, error) {
	if s == nil {
		s = d.Store
	}
	all, err := d.lostOf(ctx, s, userID)
	if err != nil {
		return Lost{}, err
	}
	now := d.Now()
	for _, l := range all {
		if userID != "" && secret.Equal(l.Link, link) && browser != "" && secret.Equal(l.Browser, secret.Hash(browser)) && l.IsReady(now) {
			return l, nil
		}
	}
	return Lost{}, errChanged
}

// CompleteLost removes every second factor and the recovery codes of the user of a
// waiting sign-in, by a link that works once. Passkeys go too if the site offers them as
// second factors. CompleteLost ends the sessions of the user and the sign-in with the
// handle pending: the user signs in again. It returns ErrVerification as CanComplete
// does, or if the user's address has changed. It returns ErrNotPending if the user is
// gone or the user's sessions were ended since the first factor was proven. It adds the
// event RecoveryDone.
func (d *Factors) CompleteLost(ctx context.Context, q *Outbox, in Assertion, userID, pending, link, browser string) error {
	return q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) error {
		u, err := d.lockForLost(ctx, s, in, userID)
		if err != nil {
			return err
		}
		l, err := d.CanComplete(ctx, s, u.ID, link, browser)
		if err == nil && l.Email != u.Email {
			err = errChanged
		}
		if err != nil {
			return err
		}
		if _, err := d.Waiting(s).Take(ctx, challenge.Lost, l.Stop); err != nil {
			return voidIf(err)
		}
		if err := d.dropFactors(ctx, s, &u); err != nil {
			return err
		}
		q.Add(event.Event{Type: event.RecoveryDone, UserID: u.ID}, nil)
		if _, err := d.endAll(ctx, q, s, u.ID, ""); err != nil {
			return err
		}
		return d.Waiting(s).End(ctx, challenge.SignIn, pending)
	})
}

// dropFactors removes the factors and recovery codes of a user, and the passkeys with
// their accounts if the site offers passkeys as second factors.
func (d *Factors) dropFactors(ctx context.Context, s *Store, u *storage.User) error {
	held, err := d.Held(ctx, s, u)
	if err != nil {
		return err
	}
	for _, f := range held.Rows {
		if _, err := s.Factors().Delete(ctx, u.ID, f.ID); failure.Ignoring(err, storage.ErrNotFound) != nil {
			return err
		}
	}
	if err := s.Factors().ReplaceRecoveryCodes(ctx, u.ID, nil); err != nil || !d.offers(storage.FactorPasskey) {
		return err
	}
	accounts, keys, err := d.WaysIn(ctx, s, u.ID)
	for _, a := range accounts {
		for _, k := range keys {
			if err == nil && IsKeyOf(&k, &a) {
				err = dropAccount(ctx, d.Directory, s, &a)
			}
		}
	}
	return err
}
