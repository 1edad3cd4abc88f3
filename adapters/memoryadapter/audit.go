package memoryadapter

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// Audit implements [storage.AuditAdapter].
func (s peopleStores) Audit() storage.AuditStore { return auditLog{s.of} }

// auditLog is the audit log of an adapter.
type auditLog struct{ a *Adapter }

// Append implements [storage.AuditStore].
func (s auditLog) Append(ctx context.Context, records []storage.AuditRecord) error {
	return s.a.withData(ctx, func(d *data) error {
		for _, r := range records {
			if _, known := d.audit[r.ID]; !known {
				put(d, d.audit, r.ID, copyRecord(r))
			}
		}
		return nil
	})
}

// List implements [storage.AuditStore].
func (s auditLog) List(ctx context.Context, q storage.AuditQuery) (list []storage.AuditRecord, err error) {
	err = s.a.withData(ctx, func(d *data) error {
		list = d.recordsWhere(func(r *storage.AuditRecord) bool { return listed(&q, r) }, newestRecord, q.Limit)
		return nil
	})
	for i, r := range list {
		list[i] = copyRecord(r)
	}
	return list, err
}

// Prune implements [storage.AuditStore]. It erases personal data only if it removes no record.
func (s auditLog) Prune(ctx context.Context, before, personalBefore time.Time, most int) (n int, err error) {
	oldest := func(a, b storage.AuditRecord) int { return newestRecord(b, a) }
	err = s.a.withData(ctx, func(d *data) error {
		gone := d.recordsWhere(func(r *storage.AuditRecord) bool { return r.Time.Before(before) }, oldest, most)
		for _, r := range gone {
			remove(d, d.audit, r.ID)
		}
		if n = len(gone); n == 0 {
			n = d.erase(d.recordsWhere(func(r *storage.AuditRecord) bool { return r.Personal != nil && r.Time.Before(personalBefore) }, oldest, most))
		}
		return nil
	})
	return n, err
}

// Erase implements [storage.AuditStore].
func (s auditLog) Erase(ctx context.Context, userID string) (n int, err error) {
	err = s.a.withData(ctx, func(d *data) error {
		n = d.erase(d.recordsWhere(func(r *storage.AuditRecord) bool { return userID != "" && r.UserID == userID }, newestRecord, len(d.audit)))
		return nil
	})
	return n, err
}

// erase removes user, client and personal data from the given records, all of which are
// stored, and returns the number of records.
func (d *data) erase(records []storage.AuditRecord) int {
	for _, r := range records {
		r.UserID, r.Client, r.Personal = "", "", nil
		put(d, d.audit, r.ID, r)
	}
	return len(records)
}

// recordsWhere returns the stored records for which is(record) is true, in the given order,
// and no more than the first most of them. The caller must not change the slices in the
// records, which the store has, too.
func (d *data) recordsWhere(is func(*storage.AuditRecord) bool, order func(a, b storage.AuditRecord) int, most int) (list []storage.AuditRecord) {
	for _, r := range d.audit {
		if is(&r) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, order)
	return list[:min(len(list), most)]
}

// listed reports whether a query lists a record.
func listed(q *storage.AuditQuery, r *storage.AuditRecord) bool {
	isType := r.Type == q.Type
	if strings.HasSuffix(q.Type, ".") {
		isType = strings.HasPrefix(r.Type, q.Type)
	}
	return (q.Tenant == "" || r.Tenant == q.Tenant) &&
		(q.UserID == "" || r.UserID == q.UserID) &&
		(q.Type == "" || isType) &&
		(q.Outcome == "" || r.Outcome == q.Outcome) &&
		(q.Client == "" || r.Client == q.Client) &&
		(q.From.IsZero() || !r.Time.Before(q.From)) &&
		(q.Before.IsZero() || r.Time.Before(q.Before)) &&
		(q.AfterTime.IsZero() || newestRecord(*r, storage.AuditRecord{ID: q.AfterID, Time: q.AfterTime}) > 0)
}

// newestRecord compares records so that the newest comes first.
func newestRecord(a, b storage.AuditRecord) int {
	return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.ID, a.ID))
}

// copyRecord returns a copy of a record, with its time in UTC and to the millisecond.
func copyRecord(r storage.AuditRecord) storage.AuditRecord {
	r.Time, r.Data, r.Personal = utc(r.Time), bytes.Clone(r.Data), bytes.Clone(r.Personal)
	return r
}
