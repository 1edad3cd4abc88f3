package directory

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/latchkeyhq/latchkey/internal/challenge"
)

// Mails about lost second factors that are due.

// lostScan is when a process has last looked for requests whose owner is to be told.
type lostScan struct{ at atomic.Int64 }

// lostEvery is how often a process looks.
const lostEvery = 5 * time.Minute

// LooksForLost reports whether it is time to call DueLost, and begins the time anew.
func (d *Factors) LooksForLost() bool {
	now, last := d.Now().UnixMilli(), d.scan.at.Load()
	return d.Delay > 0 && (now-last >= lostEvery.Milliseconds() || now < last) && d.scan.at.CompareAndSwap(last, now)
}

// DueLost returns the requests whose owner is to be told now, each at most twice:
// half-way, and when its link works. Of concurrent calls one gets a request.
func (d *Factors) DueLost(ctx context.Context) (due []Lost, err error) {
	all, err := d.lostRows(ctx, d.Store, "")
	if err != nil {
		return nil, err
	}
	now := d.Now()
	all, err = d.notVoid(ctx, d.Store, slices.DeleteFunc(all, func(l Lost) bool { return l.tries >= l.mailsDue(now) }))
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		most, told := l.mailsDue(now), false
		for l.tries < most {
			row, err := d.Waiting(d.Store).Count(ctx, challenge.Lost, l.Stop, most)
			if err != nil { // another process was faster, or it has ended
				break
			}
			l.tries, told = row.Tries, row.Tries == most
		}
		if told {
			due = append(due, l)
		}
	}
	return due, nil
}

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

// IsReady reports whether the link of a request works.
func (l *Lost) IsReady(now time.Time) bool { return !now.Before(l.Ready) }
