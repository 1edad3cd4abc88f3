package directory

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/storage"
)

// Mails that are due while a delay passes, such as those about lost second factors.

// dueScan holds when a process has last looked for users who are to be told of a delay.
type dueScan struct{ at atomic.Int64 }

const (
	dueEvery = 5 * time.Minute // between two looks of a process
	dueLease = 5 * time.Minute // for which the process that sends a mail keeps others from it
	duePause = 6 * time.Hour   // after a mail that failed, or may have
)

// LooksForDue reports whether this process is to look now for mails that are due to
// users: it is if the last look was five minutes ago. Of concurrent calls one returns
// true, and the five minutes begin anew. It returns false if d keeps no challenges.
func LooksForDue(d *Directory) bool {
	if d.scan == nil {
		return false
	}
	now, last := d.Now().UnixMilli(), d.scan.at.Load()
	return (now-last >= dueEvery.Milliseconds() || now < last) && d.scan.at.CompareAndSwap(last, now)
}

// DueLost returns the requests whose owner is to be told now: half-way, and when the link
// works. It leaves out those that are void. [TellLost] tells each owner once of each.
func (d *Factors) DueLost(ctx context.Context) ([]Lost, error) {
	all, err := d.lostRows(ctx, d.Store, "")
	if err != nil {
		return nil, err
	}
	now := d.Now()
	return d.notVoid(ctx, d.Store, slices.DeleteFunc(all, func(l Lost) bool { return l.tries >= l.mailsDue(now) }))
}

// TellLost calls send, which mails the owner of a request what is due now, at most once
// at a time, and returns the error of send. See tellDue.
func TellLost(ctx context.Context, d *Factors, l *Lost, send func(context.Context) error) error {
	return tellDue(ctx, d.Directory, challenge.Lost, l.Stop, l.mailsDue(d.Now()), send)
}

// tellDue calls send for the row that a handle names, if fewer than most mails about it were
// counted. Once send has returned nil, it raises that count to most. It returns the
// error of send. A mail that fails is due again six hours later. Of concurrent calls
// one sends: the row of its lease keeps the others out, and they return nil. If the
// process crashes before the mail, another one sends it when the lease has ended. If it
// crashes between the mail and the count, the user gets the mail twice.
func tellDue(ctx context.Context, d *Directory, p challenge.Purpose, handle string, most int, send func(context.Context) error) error {
	rows, slot := d.Waiting(d.Store), d.Now().UnixMilli()/dueLease.Milliseconds()
	lease := func(slot int64) string { return string(p) + " " + strconv.FormatInt(slot, 10) + " " + handle }
	pause := pauseOf(p, handle)
	for _, kept := range []string{lease(slot - 1), pause} {
		if _, err := rows.Get(ctx, challenge.Due, kept); !errors.Is(err, storage.ErrNotFound) {
			return err
		}
	}
	if _, err := rows.Create(ctx, challenge.Draft{Purpose: challenge.Due, Handle: lease(slot), Life: dueLease}); err != nil {
		return failure.Ignoring(err, storage.ErrConflict)
	}
	row, err := rows.Get(ctx, p, handle) // another process may have told meanwhile
	if err == nil && row.Tries < most {
		if err = send(ctx); err != nil {
			err = errors.Join(err, rows.End(ctx, challenge.Due, pause)) // that has expired
			_, failed := rows.Create(ctx, challenge.Draft{Purpose: challenge.Due, Handle: pause, Life: duePause})
			err = errors.Join(err, failed)
		}
	}
	for err == nil && row.Tries < most {
		row, err = rows.Count(ctx, p, handle, most)
	}
	return errors.Join(failure.Ignoring(failure.Ignoring(err, storage.ErrNotFound), challenge.ErrSpent), rows.End(ctx, challenge.Due, lease(slot)))
}

// pauseOf returns the handle of the row that delays the next try of a mail that failed.
func pauseOf(p challenge.Purpose, handle string) string { return string(p) + " failed " + handle }

// mailsDue returns how many mails the owner should have got, besides the first.
func (l *Lost) mailsDue(now time.Time) int {
	switch {
	case l.IsReady(now):
		return 2
	case !now.Before(l.Half):
		return 1
	}
	return 0
}

// IsReady reports whether the link of a request has begun to work. It ignores Expires.
func (l *Lost) IsReady(now time.Time) bool { return !now.Before(l.Ready) }
